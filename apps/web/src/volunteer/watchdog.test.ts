import { describe, expect, it } from 'vitest';
import { Watchdog } from './watchdog.ts';

const second = 1000;

describe('Watchdog', () => {
  it('gives up a worker that is silent for more than 150 s while the page looks', () => {
    const dog = new Watchdog(0);
    let at = 0;
    while (!dog.check((at += 10 * second)));
    expect(at).toBe(160 * second);
  });

  it('starts again with every beat', () => {
    const dog = new Watchdog(0);
    for (let at = 100 * second; at < 1000 * second; at += 100 * second) {
      expect(dog.check(at)).toBe(false);
      dog.beat();
    }
  });

  it('does not take a night of sleep for silence', () => {
    const dog = new Watchdog(0);
    expect(dog.check(8 * 3600 * second)).toBe(false);
    expect(dog.check(8 * 3600 * second + 10 * second)).toBe(false);
  });

  it('still sees a dead worker from a hidden tab, whose timers run once a minute', () => {
    const dog = new Watchdog(0);
    const verdicts = [60, 120, 180].map((at) => dog.check(at * second));
    expect(verdicts).toEqual([false, false, true]);
  });

  it('is not confused by a clock that is set back', () => {
    const dog = new Watchdog(1000 * second);
    expect(dog.check(0)).toBe(false);
    expect(dog.check(60 * second)).toBe(false);
  });
});
