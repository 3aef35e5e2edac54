import * as tf from '@tensorflow/tfjs';
import { describe, expect, it } from 'vitest';
import type { DeviceTraits } from '../kernel/kernel.ts';
import { randomNumbers, randomVector, read, relativeError, useDevice } from '../testing/device.ts';
import { candidateTiles, lastResort, likelyTile, matMulKernel } from './matmul.ts';
import { tileKey, type MatMulProblem, type MatMulTile } from './problem.ts';

const present = useDevice();
const gelu = (x: number): number =>
  0.5 * x * (1 + Math.tanh(Math.sqrt(2 / Math.PI) * (x + 0.044715 * x ** 3)));

/** In float64, straight from the definition. */
function reference(
  problem: MatMulProblem,
  a: Float32Array,
  b: Float32Array,
  bias: Float32Array,
  residual: Float32Array,
): { c: number[]; before: number[]; sums: number[] } {
  const { batch, m, n, k } = problem;
  const [c, before, sums]: [number[], number[], number[]] = [[], [], Array<number>(n).fill(0)];
  const at = (values: Float32Array, index: number): number => values[index] as number;
  for (let item = 0; item < batch; item++) {
    const [baseA, baseB] = [problem.sharedA ? 0 : item * m * k, problem.sharedB ? 0 : item * n * k];
    const bAt = (kk: number, column: number): number =>
      at(b, baseB + (problem.transposeB ? column * k + kk : kk * n + column));
    for (let row = 0; row < m; row++) {
      for (let column = 0; column < n; column++) {
        let sum = 0;
        for (let kk = 0; kk < k; kk++) {
          sum += at(a, baseA + (problem.transposeA ? kk * m + row : row * k + kk)) * bAt(kk, column);
        }
        if (problem.bias) sum += at(bias, column);
        before.push(sum);
        let value = sum;
        if (problem.activation === 'gelu') value = gelu(value);
        if (problem.activation === 'relu') value = Math.max(value, 0);
        if (problem.residual) value += at(residual, (item * m + row) * n + column);
        c.push(value);
      }
    }
    if (item === 0)
      for (let column = 0; column < n; column++)
        for (let kk = 0; kk < k; kk++) sums[column] = (sums[column] as number) + bAt(kk, column);
  }
  return { c, before, sums };
}

async function compare(
  problem: MatMulProblem,
  tile: MatMulTile,
  traits: DeviceTraits,
  seed: number,
): Promise<void> {
  const { runtime } = present();
  const random = randomNumbers(seed);
  const { batch, m, n, k } = problem;
  const a = randomVector((problem.sharedA ? 1 : batch) * m * k, random);
  const b = randomVector((problem.sharedB ? 1 : batch) * k * n, random);
  const bias = randomVector(n, random);
  const residual = randomVector(batch * m * n, random);
  const expected = reference(problem, a, b, bias, residual);
  const inputs = [
    tf.tensor1d(a),
    tf.tensor1d(b),
    ...(problem.bias ? [tf.tensor1d(bias)] : []),
    ...(problem.residual ? [tf.tensor1d(residual)] : []),
  ];
  const outputs = runtime.run(matMulKernel(problem, tile, traits), inputs, [
    { shape: [batch * m * n] },
    ...(problem.keepPreActivation ? [{ shape: [batch * m * n] }] : []),
    ...(problem.columnSums ? [{ shape: [n] }] : []),
  ]);
  const got = await read(outputs);
  tf.dispose(inputs);
  const wanted = [
    expected.c,
    ...(problem.keepPreActivation ? [expected.before] : []),
    ...(problem.columnSums ? [expected.sums] : []),
  ];
  wanted.forEach((values, i) => {
    expect(
      relativeError(got[i] as Float32Array, values),
      `${JSON.stringify(problem)} ${tileKey(tile)} output ${i}`,
    ).toBeLessThan(2e-6 * Math.sqrt(k) + 1e-6);
  });
}

const gpuTraits = (): Parameters<typeof candidateTiles>[1] => ({
  ...present().runtime.traits,
  software: false,
});

describe('matrix products', () => {
  it('are those of the definition, for random shapes, layouts, foldings and every tile', async () => {
    const random = randomNumbers(7);
    const size = (): number => 1 + Math.floor(random() * (random() < 0.5 ? 9 : 70));
    const flag = (): boolean => random() < 0.5;
    for (let trial = 0; trial < 40; trial++) {
      const columnSums = random() < 0.3;
      const round = random() < 0.4 ? 4 : 1;
      const [m, n, k] = [size(), size(), size()].map((x) => x * round) as [number, number, number];
      const problem: MatMulProblem = {
        batch: columnSums ? 1 : 1 + Math.floor(random() * 3),
        m,
        n,
        k,
        transposeA: flag(),
        transposeB: flag(),
        sharedA: random() < 0.2,
        sharedB: random() < 0.2,
        bias: flag(),
        activation: (['none', 'gelu', 'relu'] as const)[Math.floor(random() * 3)] ?? 'none',
        keepPreActivation: flag(),
        residual: flag(),
        columnSums,
      };
      const tiles = [
        ...candidateTiles(problem, present().runtime.traits),
        ...candidateTiles(problem, gpuTraits()),
      ];
      // Workgroup memory is slow on a software adapter: one tile of those with barriers for each problem.
      const traits = trial % 2 === 0 ? present().runtime.traits : gpuTraits();
      await compare(problem, tiles[trial % tiles.length] as MatMulTile, traits, trial);
    }
  });

  // Few rows and columns beside a length that is no multiple of four: each edge has code of its own.
  it.each([
    [4, 4, 3, false],
    [17, 16, 31, false],
    [3, 4, 4, true],
    [5, 4, 8, true],
  ] as const)('%i x %i x %i (both transposed: %s) in every tile', async (m, n, k, transposed) => {
    const problem: MatMulProblem = { batch: 1, m, n, k, transposeA: transposed, transposeB: transposed };
    const { traits } = present().runtime;
    for (const tile of [...candidateTiles(problem, traits), lastResort])
      await compare(problem, tile, traits, m);
  });

  it('round their operands to float16 in mixed precision only, and sum in float32', async ({ skip }) => {
    const { runtime } = present();
    const mixed = { ...gpuTraits(), mixedPrecision: true };
    const problem: MatMulProblem = { batch: 2, m: 60, n: 60, k: 70, transposeA: false, transposeB: true };
    const halves = candidateTiles(problem, mixed).filter(({ half }) => half);
    expect(candidateTiles(problem, gpuTraits()).filter(({ half }) => half)).toEqual([]);
    if (!runtime.traits.f16) return skip('this adapter has no shader-f16');
    expect(halves.length).toBeGreaterThan(0);
    const random = randomNumbers(21);
    const round = (value: number): number => Math.f16round(value);
    const a = randomVector(2 * 60 * 70, random).map(round);
    const b = randomVector(2 * 60 * 70, random).map(round);
    const expected = reference(problem, a, b, new Float32Array(0), new Float32Array(0)).c;
    const inputs = [tf.tensor1d(a), tf.tensor1d(b)];
    for (const tile of halves) {
      const [got] = await read(
        runtime.run(matMulKernel(problem, tile, mixed), inputs, [{ shape: [expected.length] }]),
      );
      expect(relativeError(got as Float32Array, expected), tileKey(tile)).toBeLessThan(1e-5);
    }
    tf.dispose(inputs);
  });

  it('add to what is there when they accumulate', async () => {
    const { runtime } = present();
    const problem: MatMulProblem = {
      batch: 1,
      m: 3,
      n: 5,
      k: 2,
      transposeA: true,
      transposeB: false,
      columnSums: true,
    };
    const kernel = matMulKernel(
      problem,
      likelyTile(problem, runtime.traits),
      runtime.traits,
    ).accumulating?.();
    if (!kernel) throw new Error('no accumulating kernel');
    const [a, b] = [tf.ones([2, 3]), tf.fill([2, 5], 2)];
    const [c, sums] = [tf.fill([3, 5], 10), tf.fill([5], 100)];
    runtime.runInto(kernel, [a, b], [c, sums]);
    runtime.runInto(kernel, [a, b], [c, sums]);
    const [gotC, gotSums] = await read([c, sums]);
    tf.dispose([a, b]);
    expect(Array.from(gotC as Float32Array)).toEqual(Array(15).fill(18));
    expect(Array.from(gotSums as Float32Array)).toEqual(Array(5).fill(108));
  });

  it('give the same bits twice', async () => {
    const { runtime } = present();
    const problem: MatMulProblem = { batch: 1, m: 33, n: 65, k: 300, transposeA: false, transposeB: true };
    const random = randomNumbers(3);
    const [a, b] = [tf.tensor1d(randomVector(33 * 300, random)), tf.tensor1d(randomVector(65 * 300, random))];
    const once = (): tf.Tensor[] =>
      runtime.run(
        matMulKernel(problem, likelyTile(problem, runtime.traits), runtime.traits),
        [a, b],
        [{ shape: [33 * 65] }],
      );
    const [first] = await read(once());
    const [second] = await read(once());
    tf.dispose([a, b]);
    expect(second).toEqual(first);
  });
});
