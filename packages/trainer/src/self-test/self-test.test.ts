import { installNodeWebGpu } from '@tabweave/kernels/node';
import * as tf from '@tensorflow/tfjs';
import { createRequire } from 'node:module';
import { dirname } from 'node:path';
import { describe, expect, it } from 'vitest';
import type { Engine } from '../engine/engine.ts';
import { createEngine } from '../engine/tfjs-engine.ts';
import { knownReference } from './generate-known-values.testing.ts';
import { knownGradient, knownLoss } from './known-values.ts';
import { runSelfTest } from './self-test.ts';

const wasmPath = `${dirname(createRequire(import.meta.url).resolve('@tensorflow/tfjs-backend-wasm'))}/`;

it('the stored values are those of the float64 reference', () => {
  const { loss, gradient } = knownReference();
  expect(knownLoss).toBeCloseTo(loss, 6);
  expect(knownGradient).toHaveLength(gradient.length);
  knownGradient.forEach((value, i) => expect(value).toBeCloseTo(gradient[i] as number, 5));
});

describe('a device that computes rightly passes', () => {
  it.each(['cpu', 'wasm', 'webgpu'] as const)(
    '%s',
    async (backend) => {
      const gpu = backend === 'webgpu' ? installNodeWebGpu() : undefined;
      const engine = await createEngine({ backend, wasmPath, ...(gpu ? { gpu } : {}) });
      const report = await runSelfTest(engine);
      expect(report.checks.filter((check) => !check.passed)).toEqual([]);
      expect(report.passed).toBe(true);
      expect(report.checks.length).toBeGreaterThanOrEqual(4);
      engine.dispose();
    },
    120_000,
  );
});

describe('a device that computes wrongly is told what is wrong', () => {
  async function withFault(kernelName: string, fault: (output: Float32Array) => void): Promise<string[]> {
    const engine = await createEngine({ backend: 'cpu' });
    const kernel = tf.getKernel(kernelName, 'cpu');
    tf.unregisterKernel(kernelName, 'cpu');
    tf.registerKernel({
      ...kernel,
      kernelFunc: (parameters) => {
        const output = kernel.kernelFunc(parameters) as tf.TensorInfo;
        const backend = parameters.backend as { data: { get(id: object): { values: Float32Array } } };
        fault(backend.data.get(output.dataId).values);
        return output;
      },
    });
    const report = await runSelfTest(engine as Engine);
    tf.unregisterKernel(kernelName, 'cpu');
    tf.registerKernel(kernel);
    engine.dispose();
    return report.checks.filter((check) => !check.passed).map((check) => `${check.name}: ${check.detail}`);
  }

  it('NaN from tanh', async () => {
    const complaints = await withFault('Tanh', (values) => values.fill(NaN));
    expect(complaints.join()).toContain('GELU(');
  });

  it('zeros from products', async () => {
    const complaints = await withFault('BatchMatMul', (values) => values.fill(0));
    expect(complaints.join()).toContain('training step: the loss is NaN');
  });

  it('zeros from integer transposes', async () => {
    const complaints = await withFault('Transpose', (values) => values.fill(0));
    expect(complaints.join()).toContain('integer transpose: an element is 0');
  });
});
