/**
 * A small captured step against plain arithmetic: what a step does beside its operations is adding, to sums of a
 * contribution and of terms into the kernels that make them. A device that gets that wrong runs operation by operation.
 */
import * as tf from '@tensorflow/tfjs';
import { CapturedStep } from '../capture/captured-step.ts';
import type { WebGpuDevice } from '../device/webgpu-device.ts';
import { accumulateKernel, copyKernel } from '../elementwise/elementwise.ts';
import type { Kernel } from '../kernel/kernel.ts';
import { switchedOn, switchOff } from '../kernel/switches.ts';
import { layerNorm, linear } from '../ops/index.ts';
import * as twins from '../twins/index.ts';

/** The name under which whole captured steps are switched off. */
export const capturedStepName = 'captured-step';

const rows = 5;
const width = 7;
/** What the sums hold before. */
const start = 2;
const replays = 2;
const tolerance = 1e-3;

export async function testCapture(device: WebGpuDevice): Promise<void> {
  await testCopying(device, accumulateKernel(rows * width), start);
  await testCopying(device, copyKernel(rows * width), 0);
  if (!switchedOn(accumulateKernel(1).name)) return;
  try {
    const [got, expected] = [await captured(device), await reference()];
    const failure = (await device.takeFailures())[0]?.message ?? difference(got, expected);
    if (failure !== '') switchOff(capturedStepName, failure);
  } catch (error) {
    await device.takeFailures();
    switchOff(capturedStepName, error instanceof Error ? error.message : String(error));
  }
}

/** Whole numbers, so that the sums are exact. */
async function testCopying(device: WebGpuDevice, kernel: Kernel, before: number): Promise<void> {
  const values = Float32Array.from({ length: rows * width }, (_, i) => (i * 37) % 101);
  const [from, to] = [tf.tensor1d(values), tf.fill([values.length], start)];
  try {
    await device.kernels.prepare(kernel);
    device.kernels.runInto(kernel, [from], [to]);
    const got = (await to.data()) as Float32Array;
    const wrong = values.findIndex((value, i) => got[i] !== value + before);
    const failure = (await device.takeFailures())[0]?.message ?? '';
    if (failure !== '') switchOff(kernel.name, failure);
    else if (wrong >= 0) {
      switchOff(kernel.name, `element ${wrong} is ${got[wrong]}, not ${(values[wrong] as number) + before}`);
    }
  } catch (error) {
    await device.takeFailures();
    switchOff(kernel.name, error instanceof Error ? error.message : String(error));
  }
  tf.dispose([from, to]);
}

function parameters(): tf.Tensor[] {
  const wave = (shape: number[], phase: number): tf.Tensor =>
    tf.tensor(
      Float32Array.from({ length: tf.util.sizeFromShape(shape) }, (_, i) => Math.sin(i + phase)),
      shape,
    );
  return [wave([rows, width], 0), wave([width, width], 1), wave([width], 2), wave([width], 3)];
}

/** The square of a residual block whose parameters are used twice: sums of terms forward and backward. */
function gradients(from: Pick<typeof twins, 'linear' | 'layerNorm'>, given: tf.Tensor[]): tf.Tensor[] {
  const loss = (...all: tf.Tensor[]): tf.Scalar => {
    const [x, w, b, g] = all as [tf.Tensor2D, tf.Tensor2D, tf.Tensor1D, tf.Tensor1D];
    const block = (h: tf.Tensor2D): tf.Tensor2D =>
      tf.add(h, from.linear(from.layerNorm(h, g, b, 1e-5), w, b, 'none'));
    const h = block(block(x));
    return tf.sum(tf.mul(h, h));
  };
  const { value, grads } = tf.valueAndGrads(loss)(given);
  return [...grads, value];
}

async function captured(device: WebGpuDevice): Promise<Float32Array[]> {
  const inputs = parameters();
  const tensors = [...inputs.map(({ shape }) => tf.fill(shape, start)), tf.fill([], start)];
  let step: CapturedStep | null = null;
  try {
    step = await CapturedStep.capture(device.kernels, {
      inputs,
      targets: tensors.map((tensor) => ({ tensor, add: true })),
      run: () => gradients({ linear, layerNorm }, inputs),
    });
    for (let i = 0; i < replays; i++) step.replay();
    const values = await Promise.all(tensors.map((tensor) => tensor.data()));
    await device.idle();
    return values as Float32Array[];
  } finally {
    step?.dispose();
    tf.dispose([...inputs, ...tensors]);
  }
}

async function reference(): Promise<Float32Array[]> {
  const present = tf.getBackend();
  await tf.setBackend('cpu');
  try {
    const results = tf.tidy(() =>
      gradients(twins, parameters()).map((result) => tf.add(tf.mul(result, replays), start)),
    );
    const values = await Promise.all(results.map((result) => result.data()));
    tf.dispose(results);
    return values as Float32Array[];
  } finally {
    await tf.setBackend(present);
  }
}

function difference(got: readonly Float32Array[], expected: readonly Float32Array[]): string {
  for (const [which, values] of expected.entries()) {
    const scale = values.reduce((largest, value) => Math.max(largest, Math.abs(value)), 1e-6);
    const wrong = values.findIndex(
      (value, i) => !(Math.abs((got[which]?.[i] ?? NaN) - value) <= tolerance * scale),
    );
    if (wrong >= 0) return `sum ${which} is ${got[which]?.[wrong]} at ${wrong}, not ${values[wrong]}`;
  }
  return '';
}
