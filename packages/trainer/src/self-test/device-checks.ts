/** Single operations that are on record as wrong on some driver, each against plain arithmetic. */
import { gelu } from '@tabweave/kernels';
import type { DeviceReport } from '@tabweave/shared';
import * as tf from '@tensorflow/tfjs';

type DeviceCheck = readonly [name: string, check: () => Promise<string>];

/** The largest single tensor that is tried, as far as the device allows it. */
const largeBytes = 128 * 2 ** 20;

export function deviceChecks(report: DeviceReport): DeviceCheck[] {
  const checks: DeviceCheck[] = [
    ['GELU and tanh at extremes', extremes],
    ['integer transpose', integerTranspose],
    ['arg-max', argMax],
  ];
  if (report.backend === 'webgpu') checks.push(['large tensor', () => largeTensor(report)]);
  return checks;
}

async function values(make: () => tf.Tensor): Promise<number[]> {
  const tensor = tf.tidy(make);
  const data = await tensor.data();
  tensor.dispose();
  return Array.from(data as ArrayLike<number>);
}

async function extremes(): Promise<string> {
  const inputs = [-1e4, -88, -11, -3, -1e-3, 0, 1e-3, 3, 11, 88, 1e4];
  const exact = inputs.map(
    (x) => 0.5 * x * (1 + Math.tanh(Math.sqrt(2 / Math.PI) * (x + 0.044715 * x ** 3))),
  );
  const got = await values(() => gelu(tf.tensor2d(inputs, [1, inputs.length])));
  const bad = inputs.findIndex((_, i) => {
    const expected = exact[i] as number;
    return !(Math.abs((got[i] as number) - expected) <= 1e-3 * Math.max(1, Math.abs(expected)));
  });
  return bad < 0 ? '' : `GELU(${inputs[bad]}) is ${got[bad]}, not ${exact[bad]}`;
}

async function integerTranspose(): Promise<string> {
  const shape = [4, 3, 5] as const;
  const got = await values(() =>
    tf.transpose(
      tf.tensor3d(
        Int32Array.from({ length: 60 }, (_, i) => i * 7919 - 99),
        [...shape],
        'int32',
      ),
      [0, 2, 1],
    ),
  );
  for (let a = 0; a < 4; a++) {
    for (let c = 0; c < 5; c++) {
      for (let b = 0; b < 3; b++) {
        const expected = (a * 15 + b * 5 + c) * 7919 - 99;
        if (got[a * 15 + c * 3 + b] !== expected)
          return `an element is ${got[a * 15 + c * 3 + b]}, not ${expected}`;
      }
    }
  }
  return '';
}

async function argMax(): Promise<string> {
  const got = await values(() => tf.argMax(tf.tensor2d([0, 3, 1, 9, 2, 4, -5, -1, -2], [3, 3]), 1));
  return got.join() === '1,0,1' ? '' : `arg-max gives ${got.join()}, not 1,0,1`;
}

async function largeTensor(report: DeviceReport): Promise<string> {
  const bytes = Math.min(largeBytes, report.maxBufferBytes, Math.floor(report.memoryBytes / 8));
  const columns = 4096;
  const rows = Math.floor(bytes / 4 / columns);
  // Made on the device; the corners are enough to see whether it is whole.
  const [first, last] = await values(() => {
    const x = tf.add(tf.fill([rows, columns], 1.5), 0.25);
    return tf.concat([tf.slice(x, [0, 0], [1, 1]), tf.slice(x, [rows - 1, columns - 1], [1, 1])]);
  });
  return first === 1.75 && last === 1.75
    ? ''
    : `a tensor of ${Math.round(bytes / 2 ** 20)} MiB holds ${first} and ${last} at its ends, not 1.75`;
}
