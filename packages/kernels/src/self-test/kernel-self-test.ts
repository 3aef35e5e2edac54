/**
 * Each kernel against its twin on plain JavaScript, before anything is computed with it: drivers differ, and a wrong one
 * says nothing. A kernel that fails is switched off by name, and its operation runs on the twin from then on.
 */
import * as tf from '@tensorflow/tfjs';
import type { WebGpuDevice } from '../device/webgpu-device.ts';
import { switchOff, switchedOff, type SwitchedOff } from '../kernel/switches.ts';
import { testCapture } from './capture-self-test.ts';
import { kernelCases, type KernelCase } from './kernel-cases.ts';
import { testTiles } from './tile-self-test.ts';

/** float32 on two devices, of which one may have approximate exponentials; relative to the largest value. */
const tolerance = 1e-3;

interface Outcome {
  /** Value, then gradients. */
  results: Float32Array[];
  /** What went wrong before there was anything to compare. */
  failure: string;
}

/** @returns all that is switched off on this device, from now or before. */
export async function testKernels(
  device: WebGpuDevice,
  cases: readonly KernelCase[] = kernelCases,
): Promise<SwitchedOff[]> {
  await testTiles(device);
  const inputs = cases.map(inputsOf);
  const outcomes: Outcome[] = [];
  for (const [i, test] of cases.entries()) {
    outcomes.push(await onDevice(device, () => evaluate(test, test.run, inputs[i] as Float32Array[])));
  }
  const present = tf.getBackend();
  const references: Float32Array[][] = [];
  await tf.setBackend('cpu');
  try {
    for (const [i, test] of cases.entries()) {
      references.push(await evaluate(test, test.twin, inputs[i] as Float32Array[]));
    }
  } finally {
    await tf.setBackend(present);
  }
  for (const [i, test] of cases.entries()) {
    const { results, failure } = outcomes[i] as Outcome;
    const complaint = failure || compare(results, references[i] as Float32Array[]);
    if (complaint !== '') for (const kernel of test.kernels) switchOff(kernel, complaint.slice(0, 200));
  }
  await testCapture(device);
  return switchedOff();
}

async function onDevice(device: WebGpuDevice, work: () => Promise<Float32Array[]>): Promise<Outcome> {
  let results: Float32Array[] = [];
  let failure = '';
  try {
    results = await work();
    await device.idle();
  } catch (error) {
    failure = error instanceof Error ? error.message : String(error);
  }
  const reported = (await device.takeFailures())[0];
  return { results, failure: reported?.message ?? failure };
}

/** Value and the gradients of a weighted sum of it. */
async function evaluate(
  { shapes }: KernelCase,
  run: KernelCase['run'],
  inputs: readonly Float32Array[],
): Promise<Float32Array[]> {
  const outcome = tf.tidy(() => {
    const tensors = inputs.map((values, i) => tf.tensor(values, [...(shapes[i] as number[])]));
    const value = run(...tensors);
    const weights = tf.tensor(spread(value.size, 99), value.shape);
    return [value, ...tf.grads((...all: tf.Tensor[]) => run(...all))(tensors, weights)];
  });
  const results = await Promise.all(outcome.map((tensor) => tensor.data()));
  tf.dispose(outcome);
  return results.map((result) => Float32Array.from(result as Float32Array));
}

function inputsOf({ shapes, extremes = [] }: KernelCase, seed: number): Float32Array[] {
  const inputs = shapes.map((shape, i) =>
    spread(
      shape.reduce((a, b) => a * b, 1),
      31 * seed + i,
    ),
  );
  inputs[0]?.set(extremes);
  return inputs;
}

/** Numbers in (-1, 1) that repeat only after long (Weyl's sequence). */
function spread(length: number, seed: number): Float32Array {
  return Float32Array.from(
    { length },
    (_, i) => 2 * (((i + 1) * 0.6180339887 + seed * 0.7548776662) % 1) - 1,
  );
}

function compare(got: readonly Float32Array[], expected: readonly Float32Array[]): string {
  for (const [which, values] of expected.entries()) {
    const what = which === 0 ? 'the value' : `the gradient of input ${which - 1}`;
    const scale = values.reduce((largest, value) => Math.max(largest, Math.abs(value)), 1e-6);
    const result = got[which];
    if (result?.length !== values.length) return `${what} has the wrong size`;
    // Beside the largest, each value by its own size: one huge number must not hide the others.
    const wrong = values.findIndex((value, i) => {
      const difference = Math.abs((result[i] as number) - value);
      const own = scale > 100 ? Math.max(1, Math.abs(value)) : scale;
      return !(difference <= tolerance * own);
    });
    if (wrong >= 0) return `${what} is ${result[wrong]} at ${wrong}, not ${values[wrong]}`;
  }
  return '';
}
