/** Recorded steps of arbitrary operations on a real device: bit for bit what the operations give by themselves. */
import * as tf from '@tensorflow/tfjs';
import { describe, expect, it } from 'vitest';
import { Pacing } from '../device/pacing.ts';
import { KernelRuntime, registerRuntime } from '../kernel/runtime.ts';
import { crossEntropySum, layerNorm, linear } from '../ops/index.ts';
import { randomNumbers, randomVector, read, relativeError, useDevice } from '../testing/device.ts';
import { CapturedStep, type StepDescription } from './captured-step.ts';

const present = useDevice();
const random = randomNumbers(11);
const some = (...shape: number[]): tf.Tensor =>
  tf.tensor(
    randomVector(
      shape.reduce((a, b) => a * b, 1),
      random,
    ),
    shape,
  );

/** A small network of stock operations only, with convolutions, pooling and a broadcast bias. */
function convolutional(image: tf.Tensor, labels: tf.Tensor, parameters: tf.Tensor[]): tf.Scalar {
  const [filter, bias, dense] = parameters as [tf.Tensor4D, tf.Tensor1D, tf.Tensor2D];
  const features = tf.relu(tf.add(tf.conv2d(image as tf.Tensor4D, filter, 1, 'same'), bias)) as tf.Tensor4D;
  const pooled = tf.maxPool(features, 2, 2, 'valid');
  const logits = tf.matMul(tf.reshape(pooled, [image.shape[0] as number, -1]), dense);
  const onehot = tf.oneHot(labels as tf.Tensor1D, 3);
  return tf.neg(tf.sum(tf.mul(tf.logSoftmax(logits), tf.cast(onehot, 'float32'))));
}

/** Runs a step by itself and recorded; the targets start from `start`. */
async function compare(
  step: Omit<StepDescription, 'targets'>,
  start: number,
): Promise<{ plain: Float32Array[]; captured: Float32Array[]; step: CapturedStep }> {
  const { runtime } = present();
  const plainTensors = tf.tidy(() =>
    step.run().map((result) => tf.add(tf.fill(result.shape, start), result)),
  );
  const targets = plainTensors.map((tensor) => ({ tensor: tf.fill(tensor.shape, start), add: true }));
  const plain = await read(plainTensors);
  const recorded = await CapturedStep.capture(runtime, { ...step, targets });
  recorded.replay();
  return { plain, captured: await read(targets.map(({ tensor }) => tensor)), step: recorded };
}

describe('a captured step', () => {
  it('of stock operations gives their bits, and follows its inputs', async () => {
    const { runtime } = present();
    const image = some(2, 6, 6, 2);
    const labels = tf.tensor1d([0, 2], 'int32');
    const parameters = [some(3, 3, 2, 4), some(4), some(36, 3)];
    const loss = (...all: tf.Tensor[]): tf.Scalar => convolutional(image, labels, all);
    const run = (): tf.Tensor[] => {
      const { value, grads } = tf.valueAndGrads(loss)(parameters);
      return [...grads, value];
    };
    const inputs = [image, labels, ...parameters];
    const first = await compare({ inputs, run }, 0);
    expect(first.captured).toEqual(first.plain);
    const other = randomVector(image.size, random);
    runtime.write(image, other);
    const targets = first.plain.map((values, i) => tf.zeros([values.length], i < 0 ? 'int32' : 'float32'));
    const again = await CapturedStep.capture(runtime, {
      inputs,
      run,
      targets: targets.map((tensor) => ({ tensor, add: false })),
    });
    again.replay();
    const moved = await read(targets);
    expect(moved).toEqual(await read(tf.tidy(run)));
    expect(moved.at(-1)).not.toEqual(first.plain.at(-1));
    for (const step of [first.step, again]) step.dispose();
    tf.dispose(inputs);
  });

  it('folds sums into the kernels that make their terms: the residual, its gradient, tied weights', async () => {
    const x = some(6, 8) as tf.Tensor2D;
    const parameters = [some(8, 8), some(8), some(8), some(8)];
    const loss = (...all: tf.Tensor[]): tf.Scalar => {
      const [w, b, g, s] = all as [tf.Tensor2D, tf.Tensor1D, tf.Tensor1D, tf.Tensor1D];
      const h = tf.add(x, linear(layerNorm(x, g, s, 1e-5), w, b)) as tf.Tensor2D;
      const k = tf.add(h, linear(layerNorm(h, g, s, 1e-5), w, b)) as tf.Tensor2D;
      return tf.sum(tf.mul(k, k));
    };
    const run = (): tf.Tensor[] => {
      const { value, grads } = tf.valueAndGrads(loss)(parameters);
      return [...grads, value];
    };
    const { plain, captured, step } = await compare({ inputs: [x, ...parameters], run }, 0);
    captured.forEach((values, i) => {
      const scale = Math.max(...(plain[i] as Float32Array).map(Math.abs));
      values.forEach((value, j) =>
        expect(Math.abs(value - (plain[i]?.[j] as number)) / scale).toBeLessThan(1e-6),
      );
    });
    // Every weight is used twice: eight sums of gradients and residuals are gone.
    expect(step.launches).toBeLessThanOrEqual(step.recorded - 6);
    step.dispose();
    tf.dispose([x, ...parameters]);
  });

  it('adds to its targets again and again, and gives several parts of a sum their order', async () => {
    const { runtime } = present();
    const x = some(5, 3);
    const target = tf.fill([5, 3], 10);
    const step = await CapturedStep.capture(runtime, {
      inputs: [x],
      targets: [{ tensor: target, add: true }],
      run: () => [tf.mul(x, 2)],
    });
    for (let i = 0; i < 3; i++) step.replay();
    const doubled = Float32Array.from((await x.data()) as Float32Array, (value) => Math.fround(2 * value));
    const expected = doubled.map((value) =>
      Math.fround(Math.fround(Math.fround(10 + value) + value) + value),
    );
    expect(await target.data()).toEqual(expected);
    // Reading has kept the values on the CPU: what a replay changes must be read anew.
    step.replay();
    expect((await target.data())[0]).not.toBe(expected[0]);
    target.dispose();
    expect(() => step.replay()).toThrow('a target of the captured step has been disposed of');
    step.dispose();
    x.dispose();
  });

  it('takes one result twice, a result that is an input, and constants made on the CPU', async () => {
    const x = some(4);
    const run = (): tf.Tensor[] => {
      const y = tf.mul(x, tf.tensor1d([1, 2, 3, 4]));
      return [y, y, x.clone(), tf.tensor1d([5, 6])];
    };
    const { plain, captured, step } = await compare({ inputs: [x], run }, 1);
    expect(captured).toEqual(plain);
    step.dispose();
    x.dispose();
  });

  it('follows an upstream gradient that was one when it was recorded', async () => {
    const { runtime } = present();
    const logits = some(2, 3);
    const labels = tf.tensor1d([0, 2], 'int32');
    const upstream = tf.scalar(1);
    const target = tf.zeros([2, 3]);
    const loss = (x: tf.Tensor): tf.Tensor => crossEntropySum(x as tf.Tensor2D, labels, 1);
    const step = await CapturedStep.capture(runtime, {
      inputs: [logits, labels, upstream],
      targets: [{ tensor: target, add: false }],
      run: () => [tf.grad(loss)(logits, upstream)],
    });
    step.replay();
    const once = Float32Array.from(await target.data());
    runtime.write(upstream, Float32Array.of(1024));
    step.replay();
    const [scaled] = await read([tf.add(target, 0)]);
    expect(scaled).toEqual(once.map((value) => value * 1024));
    step.dispose();
    tf.dispose([logits, labels, upstream, target]);
  });

  it('says no in words to work that reads values, and leaves the back end as it was', async () => {
    const { runtime } = present();
    const x = some(4);
    const target = tf.zeros([4]);
    const before = tf.memory().numTensors;
    const capture = CapturedStep.capture(runtime, {
      inputs: [x],
      targets: [{ tensor: target, add: true }],
      run: () => [tf.tensor1d(tf.add(x, 1).dataSync())],
    });
    await expect(capture).rejects.toThrow('dataSync does not work on WebGPU');
    expect(tf.memory().numTensors).toBe(before);
    const variable = tf.variable(tf.ones([4]));
    const assigning = CapturedStep.capture(runtime, {
      inputs: [x],
      targets: [{ tensor: target, add: true }],
      run: () => [variable.assign(tf.add(x, 1)) as unknown as tf.Tensor],
    });
    await expect(assigning).rejects.toThrow('cannot assign to variables');
    variable.assign(tf.fill([4], 7));
    expect(await read([variable])).toEqual([Float32Array.of(7, 7, 7, 7)]);
    const wrongSize = CapturedStep.capture(runtime, {
      inputs: [x],
      targets: [{ tensor: target, add: true }],
      run: () => [tf.ones([3])],
    });
    await expect(wrongSize).rejects.toThrow('another size');
    const refused = async (
      words: string,
      run: () => tf.Tensor[],
      tensors: tf.Tensor[] = [target],
      add = true,
    ): Promise<void> => {
      const targets = tensors.map((tensor) => ({ tensor, add }));
      await expect(CapturedStep.capture(runtime, { inputs: [x], targets, run })).rejects.toThrow(words);
    };
    await refused('cannot draw random numbers', () => [tf.add(x, tf.randomUniform([4]))]);
    await refused('cannot draw random numbers', () => [tf.dropout(x, 0.5)]);
    expect(Math.random()).toBeLessThan(1);
    await refused('one of the tensors that it reads', () => [tf.add(x, 1)], [x]);
    await refused('target 1 of the step is the target of another', () => [tf.add(x, 1), x], [target, target]);
    await refused('is int32: sums are float32', () => [tf.cast(tf.add(x, 1), 'int32')]);
    await refused('is int32: its target is float32', () => [tf.cast(x, 'int32')], [target], false);
    const [values] = await read([tf.sub(tf.add(x, 1), x)]);
    for (const value of values as Float32Array) expect(value).toBeCloseTo(1, 5);
    tf.dispose([x, target]);
  });

  it('leaves no tensor and no buffer when it is disposed of', async () => {
    const { runtime, device } = present();
    const x = some(8, 8);
    const target = tf.zeros([8, 8]);
    const once = async (): Promise<void> => {
      const step = await CapturedStep.capture(runtime, {
        inputs: [x],
        targets: [{ tensor: target, add: true }],
        run: () => [tf.add(tf.matMul(x, x), tf.scalar(3))],
      });
      step.replay();
      step.dispose();
      await device.idle();
    };
    await once();
    const before = { ...tf.memory() };
    for (let i = 0; i < 5; i++) await once();
    expect({ ...tf.memory() }).toEqual(before);
    tf.dispose([x, target]);
  });
});

describe('folding', () => {
  /** A few operations on what is there, some of it more than once; all [4, 4]. */
  function randomGraph(seed: number, given: readonly tf.Tensor[]): () => tf.Tensor[] {
    return () => {
      const draw = randomNumbers(seed);
      const pick = <T>(list: readonly T[]): T => list[Math.floor(draw() * list.length)] as T;
      // The newest most often: results and terms that one launch makes and one reads are what folding looks for.
      const recent = <T>(list: readonly T[]): T => pick(draw() < 0.7 ? list.slice(-3) : list);
      const nodes = given.map((tensor) => tensor as tf.Tensor2D);
      const bias = tf.tensor1d([0.5, -0.5, 0.25, 1]);
      const operations = [
        () => tf.add(recent(nodes), recent(nodes)),
        () => tf.add(recent(nodes), recent(nodes)),
        () => linear(pick(nodes), pick(nodes), bias),
        () => tf.matMul(pick(nodes), pick(nodes), draw() < 0.5, draw() < 0.5),
        () => tf.mul(pick(nodes), 0.5),
        () => layerNorm(pick(nodes), bias, bias, 1e-3),
      ];
      const count = 1 + Math.floor(8 * draw());
      for (let i = 0; i < count; i++) nodes.push(pick(operations)() as tf.Tensor2D);
      const results = 1 + Math.floor(4 * draw());
      return Array.from({ length: results }, () => recent(draw() < 0.9 ? nodes.slice(given.length) : nodes));
    };
  }

  it('keeps the results of any step, whatever reads what and wherever it is sent', async () => {
    const { runtime } = present();
    const given = [some(4, 4), some(4, 4)];
    for (let seed = 0; seed < 150; seed++) {
      const run = randomGraph(seed, given);
      const draw = randomNumbers(1000 + seed);
      const plain = tf.tidy(() => run().map((result) => tf.clone(result)));
      const adds = plain.map(() => draw() < 0.6);
      const starts = plain.map(() => Math.round(4 * draw()));
      const expected = await read(
        tf.tidy(() =>
          plain.map((result, i) => (adds[i] ? tf.add(result, 2 * (starts[i] as number)) : tf.add(result, 0))),
        ),
      );
      tf.dispose(plain);
      const targets = starts.map((start, i) => ({
        tensor: tf.fill([4, 4], 2 * start),
        add: adds[i] as boolean,
      }));
      const step = await CapturedStep.capture(runtime, { inputs: given, run, targets });
      step.replay();
      const got = await read(targets.map(({ tensor }) => tensor));
      expected.forEach((values, i) =>
        expect(relativeError(got[i] as Float32Array, values), `seed ${seed}, result ${i}`).toBeLessThan(1e-5),
      );
      step.dispose();
    }
    tf.dispose(given);
  });

  it('sends a result that is also a term of another one to both places', async () => {
    const { runtime } = present();
    const [a, b] = [some(4, 4), some(4, 4)];
    const run = (): tf.Tensor[] => {
      const term = tf.matMul(a as tf.Tensor2D, b as tf.Tensor2D);
      return [term, tf.add(term, tf.matMul(b as tf.Tensor2D, a as tf.Tensor2D))];
    };
    const { plain, captured, step } = await compare({ inputs: [a, b], run }, 3);
    captured.forEach((values, i) =>
      expect(relativeError(values, plain[i] as Float32Array)).toBeLessThan(1e-6),
    );
    const copies = [0, 1].map(() => tf.zeros([4, 4]));
    const named = await CapturedStep.capture(runtime, {
      inputs: [a, b],
      run: () => {
        const product = tf.mul(a, b);
        return [product, product];
      },
      targets: copies.map((tensor) => ({ tensor, add: false })),
    });
    named.replay();
    const [once, twice] = await read(copies);
    expect(once).toEqual(twice);
    expect(once).toEqual((await read([tf.mul(a, b)]))[0]);
    for (const each of [step, named]) each.dispose();
    tf.dispose([a, b]);
  });
});

describe('long work', () => {
  it('goes in as many submits as its budget asks for, single launches in parts, with the same bits', async () => {
    const { runtime } = present();
    const { queue } = runtime.device;
    const x = some(64, 32) as tf.Tensor2D;
    const w = some(32, 48) as tf.Tensor2D;
    const run = (): tf.Tensor[] => [tf.matMul(x, w)];
    const whole = await compare({ inputs: [x, w], run }, 0);
    const slow = new KernelRuntime(runtime.backend, runtime.traits);
    // 196,608 operations at 20 a millisecond: 40 budgets of 250 milliseconds, for 12 workgroups.
    slow.pacing.learn(20, 1);
    registerRuntime(slow);
    const target = tf.zeros([64, 48]);
    const step = await CapturedStep.capture(slow, {
      inputs: [x, w],
      targets: [{ tensor: target, add: true }],
      run,
    });
    slow.flush();
    let submits = 0;
    const submit = queue.submit.bind(queue);
    queue.submit = (buffers) => {
      submits++;
      submit(buffers);
    };
    step.replay();
    queue.submit = submit;
    registerRuntime(runtime);
    const [got] = await read([target]);
    expect(got).toEqual(whole.plain[0]);
    const workgroups = (64 / 16) * (48 / 16);
    expect(submits).toBe(workgroups);
    for (const each of [whole.step, step]) each.dispose();
    tf.dispose([x, w]);
  });

  it('is paced by what has been measured: slower counts at once, faster by and by', () => {
    const pacing = new Pacing({ software: false }, 100);
    pacing.learn(1e9, 1000);
    expect(pacing.flopsPerSubmit).toBeCloseTo(1e8, 0);
    expect(pacing.parts(1e9, 64)).toBe(16);
    expect(pacing.parts(1e9, 4)).toBe(4);
    expect(pacing.parts(1e6, 64)).toBe(1);
    pacing.learn(1e9, 100);
    expect(pacing.rate).toBeGreaterThan(1e6);
    expect(pacing.rate).toBeLessThan(1e7);
    pacing.learn(1e9, 10_000);
    expect(pacing.rate).toBeCloseTo(1e5, 0);
    pacing.learn(0, 5);
    pacing.learn(5, 0);
    expect(pacing.rate).toBeCloseTo(1e5, 0);
  });
});
