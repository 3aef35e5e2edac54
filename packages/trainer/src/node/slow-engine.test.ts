import { afterEach, expect, test, vi } from 'vitest';
import { ArithmeticEngine } from '../session/testing/arithmetic-engine.ts';
import { parametersOf, tinyConfig } from '../session/testing/tasks.ts';
import { SlowEngine } from './slow-engine.ts';

afterEach(() => void vi.useRealTimers());

test('a pass takes the factor times as long, and its result is the same', async () => {
  vi.useFakeTimers();
  const pass = (): Promise<void> => new Promise((resolve) => setTimeout(resolve, 40));
  const tokens = Int32Array.from({ length: 9 }, (_, i) => i);
  const measure = async (factor: number): Promise<{ milliseconds: number; lossSum: number }> => {
    const engine = new SlowEngine(new ArithmeticEngine({ onPass: pass }), factor);
    await engine.load({ config: tinyConfig, blockSize: 8 }, parametersOf(tinyConfig, 0));
    engine.begin();
    const began = performance.now();
    let milliseconds = 0;
    const done = engine.accumulate(tokens, 1).then(() => {
      milliseconds = performance.now() - began;
    });
    await vi.advanceTimersByTimeAsync(1000);
    await done;
    return { milliseconds, lossSum: (await engine.finish()).lossSum };
  };
  const [plain, slow] = [await measure(1), await measure(5)];
  expect(slow.milliseconds).toBeGreaterThanOrEqual(5 * 40);
  expect(slow.milliseconds).toBeLessThanOrEqual(5 * 40 + 5);
  expect(slow.lossSum).toBe(plain.lossSum);
});
