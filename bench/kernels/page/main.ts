/** The page of one contender: what the harness calls through `window.bench`. */
import type { Fingerprint, Outcome } from '../agreement.ts';
import type { ContenderId } from '../contenders.ts';
import { models, type ModelName } from '../models.ts';
import type { Operation } from '../operations.ts';
import type { AdapterReport } from '../report.ts';
import type { Contender, Trained } from './contender.ts';
import { modelData } from './data.ts';
import { fingerprint, operationData, type Launcher, type OperationContender } from './operations/runner.ts';

/** More launches than this before the wait would only fill memory with what waits to be recycled. */
const mostLaunches = 200;

async function contender(id: ContenderId): Promise<Contender> {
  switch (id) {
    case 'tfjs-webgpu':
      return (await import('./contenders/plain-tfjs.ts')).plainTfjs('webgpu');
    case 'tfjs-webgl':
      return (await import('./contenders/plain-tfjs.ts')).plainTfjs('webgl');
    case 'jax':
      return (await import('./contenders/jax.ts')).jax;
    case 'tabweave-ops':
      return (await import('./contenders/tabweave.ts')).tabweave(false);
    case 'tabweave':
      return (await import('./contenders/tabweave.ts')).tabweave(true);
  }
}

async function operationContender(id: ContenderId): Promise<OperationContender> {
  switch (id) {
    case 'tfjs-webgpu':
      return (await import('./operations/plain-tfjs.ts')).plainTfjsOperations('webgpu');
    case 'tfjs-webgl':
      return (await import('./operations/plain-tfjs.ts')).plainTfjsOperations('webgl');
    case 'jax':
      return (await import('./operations/jax.ts')).jaxOperations;
    case 'tabweave-ops':
    case 'tabweave':
      return (await import('./operations/tabweave.ts')).tabweaveOperations;
  }
}

let trained: Trained | null = null;
let operations: OperationContender | null = null;
let launcher: Launcher | null = null;
let launches = 1;

/** Milliseconds of each repetition, at least one, until `milliseconds` are over. */
async function repeat(milliseconds: number, once: () => Promise<void>): Promise<number[]> {
  const times: number[] = [];
  const started = performance.now();
  for (let now = started; times.length === 0 || now - started < milliseconds; ) {
    await once();
    const after = performance.now();
    times.push(after - now);
    now = after;
  }
  return times;
}

const bench = {
  async adapter(): Promise<AdapterReport | null> {
    const adapter = await navigator.gpu?.requestAdapter({ powerPreference: 'high-performance' });
    if (!adapter) return null;
    const { info, limits } = adapter;
    const name = [info.vendor, info.architecture, info.device, info.description]
      .filter((part) => part !== '')
      .join(' ');
    const software = info.isFallbackAdapter || /swiftshader|llvmpipe|lavapipe|basic render/i.test(name);
    const maxBindingBytes = Math.min(limits.maxStorageBufferBindingSize, limits.maxBufferSize);
    return { name, software, maxBindingBytes };
  },

  async ceilings(software: boolean): Promise<{ flops: number; flopsBy: string; bandwidth: number }> {
    const { RawDevice } = await import('./ceilings/raw-device.ts');
    const { matMulCeiling } = await import('./ceilings/matmul.ts');
    const { copyBandwidth } = await import('./ceilings/copy.ts');
    const raw = await RawDevice.open();
    const sides = software ? [256, 512] : [512, 1024, 2048, 4096];
    const { flops, tile, side } = await matMulCeiling(raw, sides, 0.02);
    const bandwidth = await copyBandwidth(raw, (software ? 64 : 256) * 2 ** 20);
    raw.device.destroy();
    return { flops, flopsBy: `a plain shader at ${side}x${side}x${side} (${tile})`, bandwidth };
  },

  /** Milliseconds from parameters in memory to the end of the first step, compilation included. */
  async prepare(id: ContenderId, name: ModelName): Promise<number> {
    const model = models[name];
    const data = modelData(model);
    const code = await contender(id);
    const started = performance.now();
    trained = await code.prepare(model, data);
    await trained.step();
    return performance.now() - started;
  },

  async outcome(): Promise<Outcome> {
    return required(trained).outcome();
  },

  async settle(): Promise<void> {
    await required(trained).settle?.();
  },

  async steps(milliseconds: number): Promise<number[]> {
    return repeat(milliseconds, () => required(trained).step());
  },

  async startOperations(id: ContenderId): Promise<void> {
    operations = await operationContender(id);
    await operations.start();
  },

  /** Compiles, settles how many launches make a measurement, and returns what the outputs come to. */
  async prepareOperation(operation: Operation, milliseconds: number): Promise<Fingerprint[]> {
    launcher?.dispose();
    launcher = required(operations).prepare(operation, operationData(operation));
    const outputs = await launcher.outputs();
    await required(operations).tune?.();
    await launcher.settle();
    const [one] = await repeat(0, () => required(launcher).settle());
    launches = Math.min(mostLaunches, Math.max(1, Math.round(milliseconds / (one as number))));
    return outputs.map(fingerprint);
  },

  /** Milliseconds of one launch, out of many with one wait at their end. */
  async launches(): Promise<number> {
    const ready = required(launcher);
    const started = performance.now();
    // Settling launches once more.
    for (let i = 1; i < launches; i++) ready.launch();
    await ready.settle();
    return (performance.now() - started) / launches;
  },
};

function required<T>(value: T | null): T {
  if (value === null) throw new Error('not prepared');
  return value;
}

export type BenchPage = typeof bench;

declare global {
  interface Window {
    bench: BenchPage;
  }
}

window.bench = bench;
