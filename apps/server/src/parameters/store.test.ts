import {
  appendFileSync,
  mkdtempSync,
  readFileSync,
  readdirSync,
  rmSync,
  statSync,
  truncateSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Random, encodeVector, gpt2Layout, recipeSchema, type Encoding } from '@tabweave/shared';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { snapshotPath, snapshotVersions } from './snapshot.ts';
import { ParameterStore, type StoreOptions } from './store.ts';

const config = {
  vocabSize: 11,
  positions: 8,
  width: 8,
  layers: 2,
  heads: 2,
  inner: 32,
  layerNormEpsilon: 1e-5,
  initializerRange: 0.02,
};
const layout = gpt2Layout(config);
const recipe = recipeSchema.parse({ blockSize: 8, globalBatch: 6, maxSteps: 1000, warmupSteps: 3, seed: 4 });

let folder: string;
let options: StoreOptions;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'tabweave-store-'));
  options = { folder, config, recipe, parameterEncoding: 'float32' };
});
afterEach(() => rmSync(folder, { recursive: true, force: true }));

/** Gradient sum of samples [start, end) of a step: the same whoever asks, additive over ranges. */
function gradientSum(version: number, start: number, end: number): Float32Array {
  const sum = new Float32Array(layout.size);
  for (let sample = start; sample < end; sample++) {
    const random = new Random(1000 * version + sample);
    for (let i = 0; i < sum.length; i++) sum[i] = (sum[i] as number) + random.normal() * 0.1;
  }
  return sum;
}

function contribute(
  store: ParameterStore,
  version: number,
  start: number,
  end: number,
  encoding: Encoding = 'float32',
) {
  const bytes = encodeVector(gradientSum(version, start, end), encoding);
  return store.add({ bytes, encoding, samples: end - start });
}

function step(store: ParameterStore, version: number, cuts: number[] = [0, 2, 6]): void {
  for (let i = 1; i < cuts.length; i++) contribute(store, version, cuts[i - 1] as number, cuts[i] as number);
  store.commit({ step: version + 1 });
}

describe('a step', () => {
  it('is the same however the batch was split (invariants 1 and 5)', () => {
    const whole = new ParameterStore(options);
    whole.open();
    const other = mkdtempSync(join(tmpdir(), 'tabweave-store-'));
    const split = new ParameterStore({ ...options, folder: other });
    split.open();
    for (let version = 0; version < 10; version++) {
      step(whole, version, [0, 6]);
      step(split, version, [0, 1, 3, 4, 6]);
    }
    const [a, b] = [whole.parameters(), split.parameters()];
    const largest = Math.max(...a.map((value, i) => Math.abs(value - (b[i] as number))));
    // Ten steps of at most the learning rate each: float32 rounding of the sums shifts the last bits only.
    expect(largest).toBeLessThan(2e-5);
    expect(Math.max(...a.map(Math.abs))).toBeGreaterThan(0.05);
    rmSync(other, { recursive: true, force: true });
  });

  it('is refused while samples are missing, and the sum is kept', () => {
    const store = new ParameterStore(options);
    store.open();
    contribute(store, 0, 0, 4);
    expect(() => store.commit({})).toThrow('4 samples, not 6');
    contribute(store, 0, 4, 6);
    store.commit({});
    expect(store.publish().version).toBe(1);
  });
});

describe('checks', () => {
  it.each([
    ['NaN', NaN],
    ['infinity', Infinity],
    ['an overflow', 3e38],
  ])('refuses %s in one element and leaves the sum as it was', (_, value) => {
    const [clean, attacked] = [
      new ParameterStore(options),
      new ParameterStore({ ...options, folder: join(folder, 'b') }),
    ];
    clean.open();
    attacked.open();
    const poisoned = gradientSum(0, 0, 2);
    poisoned[17] = value;
    const verdict = attacked.add({
      bytes: encodeVector(poisoned, 'float32'),
      encoding: 'float32',
      samples: 2,
    });
    expect(verdict).toMatchObject({ accepted: false, finite: false });
    step(clean, 0);
    step(attacked, 0);
    expect(attacked.publish().parametersHash).toBe(clean.publish().parametersHash);
  });

  it('refuses a wrong size by its numbers', () => {
    const store = new ParameterStore(options);
    store.open();
    const verdict = store.add({ bytes: new Uint8Array(16), encoding: 'float32', samples: 1 });
    expect(verdict).toEqual({
      accepted: false,
      finite: true,
      reason: `${layout.size} values as float32 take ${4 * layout.size} bytes, not 16`,
    });
  });

  it('refuses a contribution of nothing, which would also drag the usual norm down', () => {
    const store = new ParameterStore(options);
    store.open();
    const send = (scale: number) =>
      store.add({
        bytes: encodeVector(
          gradientSum(0, 0, 2).map((value) => value * scale),
          'float32',
        ),
        encoding: 'float32',
        samples: 2,
      });
    for (let i = 0; i < 20; i++) expect(send(0)).toMatchObject({ accepted: false });
    for (let i = 0; i < 8; i++) expect(send(1)).toMatchObject({ accepted: true });
    expect(send(1e-5)).toMatchObject({ accepted: false, finite: true });
    expect(send(0.01)).toMatchObject({ accepted: true });
  });

  it('refuses a norm far above the usual, and bounds it where every worker sends it', () => {
    const store = new ParameterStore(options);
    store.open();
    for (let version = 0; version < 5; version++) step(store, version);
    const huge = gradientSum(5, 0, 2).map((value) => value * 1000);
    const send = () => store.add({ bytes: encodeVector(huge, 'float32'), encoding: 'float32', samples: 2 });
    for (let i = 0; i < 3; i++) expect(send()).toMatchObject({ accepted: false, finite: true });
    const verdict = send();
    expect(verdict.accepted && verdict.scale).toBeLessThan(0.05);
  });
});

describe('durability', () => {
  it('finds the last committed step again bit for bit, with its history', () => {
    const store = new ParameterStore(options);
    store.open();
    for (let version = 0; version < 7; version++) step(store, version);
    contribute(store, 7, 0, 3);
    const before = store.publish();
    // No close: as after SIGKILL, only what is on disk counts.
    const again = new ParameterStore(options).open();
    expect(again).toMatchObject({ version: 7, parametersHash: before.parametersHash });
    expect(again.replayed.map((record) => record.meta)).toEqual(
      [1, 2, 3, 4, 5, 6, 7].map((n) => ({ step: n })),
    );
  });

  it('goes on after a restart as if there had been none', () => {
    const straight = new ParameterStore({ ...options, folder: join(folder, 'a') });
    straight.open();
    for (let version = 0; version < 8; version++) step(straight, version);
    let store = new ParameterStore(options);
    store.open();
    for (let version = 0; version < 8; version++) {
      step(store, version);
      if (version % 3 === 1) store.snapshot();
      store = new ParameterStore(options);
      expect(store.open().version).toBe(version + 1);
    }
    expect(store.publish().parametersHash).toBe(straight.publish().parametersHash);
  });

  it('loses a torn record and nothing before it, wherever it is torn', () => {
    const store = new ParameterStore(options);
    store.open();
    const hashes = [store.publish().parametersHash];
    for (let version = 0; version < 3; version++) {
      step(store, version);
      hashes.push(store.publish().parametersHash);
    }
    const log = join(folder, readdirSync(folder).find((name) => name.startsWith('log-')) as string);
    const whole = readFileSync(log);
    const record = whole.length / 3;
    for (const kept of [record * 2 + 1, record * 2 + 10, record * 2 + 30, whole.length - 1, record * 2]) {
      writeFileSync(log, whole);
      truncateSync(log, kept);
      const opened = new ParameterStore(options).open();
      expect(opened).toMatchObject({ version: 2, parametersHash: hashes[2] });
      expect(statSync(log).size).toBe(record * 2);
    }
    writeFileSync(log, whole);
    appendFileSync(log, 'garbage after a crash');
    const repaired = new ParameterStore(options);
    expect(repaired.open().version).toBe(3);
    step(repaired, 3);
    expect(new ParameterStore(options).open()).toMatchObject({
      version: 4,
      parametersHash: repaired.publish().parametersHash,
    });
  });

  it('falls back to the snapshot before a damaged one and replays across', () => {
    const store = new ParameterStore(options);
    store.open();
    for (let version = 0; version < 6; version++) {
      step(store, version);
      if (version % 2 === 1) store.snapshot();
    }
    step(store, 6);
    const { parametersHash } = store.publish();
    expect(snapshotVersions(folder)).toEqual([6, 4]);
    const path = snapshotPath(folder, 6);
    const bytes = readFileSync(path);
    bytes[bytes.length >> 1] = (bytes[bytes.length >> 1] as number) ^ 1;
    writeFileSync(path, bytes);
    const opened = new ParameterStore(options).open();
    expect(opened).toMatchObject({ version: 7, parametersHash });
    expect(opened.repairs).toEqual([expect.stringContaining('CHECKPOINT_CORRUPT')]);
  });

  it('says what it cut off a damaged log, and keeps the file as it was', () => {
    const store = new ParameterStore(options);
    store.open();
    for (let version = 0; version < 4; version++) step(store, version);
    const log = join(folder, readdirSync(folder).find((name) => name.startsWith('log-')) as string);
    const bytes = readFileSync(log);
    bytes[Math.floor(bytes.length * 0.4)] = (bytes[Math.floor(bytes.length * 0.4)] as number) ^ 1;
    writeFileSync(log, bytes);
    const opened = new ParameterStore(options).open();
    expect(opened.version).toBe(1);
    expect(opened.repairs).toEqual([expect.stringContaining('no whole step')]);
    const kept = readdirSync(folder).find((name) => name.includes('.cut-')) as string;
    expect(readFileSync(join(folder, kept)).equals(bytes)).toBe(true);
  });

  it('that could not be opened writes nothing when it is closed', () => {
    const store = new ParameterStore(options);
    store.open();
    for (let version = 0; version < 4; version++) {
      step(store, version);
      store.snapshot();
    }
    step(store, 4);
    rmSync(snapshotPath(folder, 4));
    rmSync(join(folder, 'log-0000000003.bin'));
    const before = readdirSync(folder).sort();
    const broken = new ParameterStore(options);
    expect(() => broken.open()).toThrow('goes from version');
    broken.close();
    expect(readdirSync(folder).sort()).toEqual(before);
  });

  it('does not begin anew over a log that it cannot replay', () => {
    const store = new ParameterStore(options);
    store.open();
    for (let version = 0; version < 4; version++) {
      step(store, version);
      store.snapshot();
    }
    for (const version of snapshotVersions(folder)) truncateSync(snapshotPath(folder, version), 100);
    expect(() => new ParameterStore(options).open()).toThrow('no usable snapshot');
    expect(readdirSync(folder).filter((name) => name.startsWith('log-')).length).toBeGreaterThan(0);
  });

  it('removes what a crash left half written', () => {
    const store = new ParameterStore(options);
    store.open();
    step(store, 0);
    writeFileSync(`${snapshotPath(folder, 1)}.tmp`, 'half');
    expect(new ParameterStore(options).open().version).toBe(1);
    expect(readdirSync(folder).filter((name) => name.endsWith('.tmp'))).toEqual([]);
  });
});

describe('published parameters', () => {
  it('are named by their hash and hold the float16 values where that is the encoding', () => {
    const store = new ParameterStore({ ...options, parameterEncoding: 'float16' });
    const { blob } = store.open();
    const bytes = readFileSync(join(folder, 'parameters', blob.hash));
    expect(bytes.length).toBe(2 * layout.size);
    expect(bytes.equals(encodeVector(store.parameters(), 'float16'))).toBe(true);
    for (let version = 0; version < 4; version++) {
      step(store, version);
      store.publish();
    }
    expect(readdirSync(join(folder, 'parameters')).length).toBe(2);
  });
});
