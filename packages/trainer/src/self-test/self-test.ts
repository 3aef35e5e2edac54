/**
 * The admission self-test: whether this device computes what it should, before its results count. A wrong driver gives
 * wrong gradients without a word (zeros, saturated functions, shaders that do not compile).
 */
import type { SelfTestReport } from '@tabweave/shared';
import type { Engine } from '../engine/engine.ts';
import { deviceChecks } from './device-checks.ts';
import { knownBlockSize, knownConfig, knownParameters, knownSamples, knownTokens } from './known-model.ts';
import { knownGradient, knownLoss } from './known-values.ts';

type Check = SelfTestReport['checks'][number];

/** Float32 against float64, by way of approximate exponentials on some GPUs. */
const tolerance = 2e-3;

/** Leaves the engine without a usable model. */
export async function runSelfTest(engine: Engine): Promise<SelfTestReport> {
  const started = performance.now();
  const checks: Check[] = [];
  let switchedOff: SelfTestReport['switchedOff'] = [];
  const kernels = async (): Promise<string> => {
    // A kernel that fails is replaced by its plain form: no reason to send the device away.
    switchedOff = (await engine.testKernels()).map(({ name, reason }) => ({
      name,
      reason: reason.slice(0, 300),
    }));
    return '';
  };
  for (const [name, check] of [
    ['kernels', kernels] as const,
    ...deviceChecks(engine.report),
    ['training step', () => knownStep(engine)] as const,
  ]) {
    checks.push(await outcome(name, check));
  }
  return {
    passed: checks.every((check) => check.passed),
    milliseconds: performance.now() - started,
    checks,
    switchedOff,
  };
}

async function outcome(name: string, check: () => Promise<string>): Promise<Check> {
  try {
    const complaint = await check();
    return { name, passed: complaint === '', detail: complaint.slice(0, 300) };
  } catch (error) {
    const detail = error instanceof Error ? error.message : String(error);
    return { name, passed: false, detail: detail.slice(0, 300) };
  }
}

/** Loss and gradients of the known model. @returns what is wrong, or nothing. */
async function knownStep(engine: Engine): Promise<string> {
  await engine.load({ config: knownConfig, blockSize: knownBlockSize }, knownParameters());
  engine.begin();
  await engine.accumulate(knownTokens(), knownSamples);
  const { lossSum, gradientSum } = await engine.finish();
  if (Math.abs(lossSum - knownLoss) > tolerance * knownLoss) {
    return `the loss of a known model is ${lossSum.toPrecision(6)}, not ${knownLoss.toPrecision(6)}`;
  }
  const scale = Math.max(...knownGradient.map(Math.abs));
  const wrong = knownGradient.filter(
    (expected, i) => !(Math.abs((gradientSum[i] ?? NaN) - expected) <= tolerance * scale),
  ).length;
  if (wrong > 0) return `${wrong} of ${knownGradient.length} gradients of a known model are wrong`;
  return '';
}
