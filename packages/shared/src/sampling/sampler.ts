/**
 * Which tokens a sample is made of: a pure function of seed, parameter version and index in the global batch,
 * so that server and worker agree without a list on the wire (Psyche's deterministic data assignment).
 *
 * The training split is cut into windows of `blockSize` tokens. An epoch visits each window once, in the
 * order of a keyed permutation; its windows start at an offset drawn for the epoch, so that over epochs the
 * cuts fall elsewhere.
 */
import { mix32 } from './random.ts';

export interface TokenRange {
  /** First token. */
  start: number;
  /** One past the last token. */
  end: number;
}

export interface Sampling {
  seed: number;
  globalBatch: number;
  /** Tokens of one sample; each also needs the token after it as the last target. */
  blockSize: number;
  train: TokenRange;
  validation: TokenRange;
  /** Windows of the validation split that one evaluation uses. */
  evaluationSamples: number;
}

/** Splits `tokens` into training and validation parts; the latter is the tail. */
export function splitTokens(
  tokens: number,
  validationFraction: number,
): { train: TokenRange; validation: TokenRange } {
  const cut = tokens - Math.floor(tokens * validationFraction);
  return { train: { start: 0, end: cut }, validation: { start: cut, end: tokens } };
}

/** Whole windows in a range, whatever the epoch's offset. At least one target must follow each. */
export function windowsIn(range: TokenRange, blockSize: number): number {
  return Math.max(0, Math.floor((range.end - range.start - 1) / blockSize));
}

/** First token of training sample `index` of the step that starts from parameter version `version`. */
export function trainingWindow(sampling: Sampling, version: number, index: number): number {
  const { train, blockSize, seed } = sampling;
  const length = train.end - train.start - 1;
  // One window is given up, where there are several, to make room for the epoch's offset.
  const whole = Math.floor(length / blockSize);
  const windows = whole > 1 ? whole - 1 : whole;
  const ordinal = version * sampling.globalBatch + index;
  const epoch = Math.floor(ordinal / windows);
  const slack = length - windows * blockSize;
  const offset = mix32(seed, epoch, 0x0ff5e7) % (slack + 1);
  const window = permute(ordinal % windows, windows, mix32(seed, epoch, 0x5a3b1e));
  return train.start + offset + window * blockSize;
}

/** First token of evaluation sample `index`: windows spread evenly over the validation split. */
export function evaluationWindow(sampling: Sampling, index: number): number {
  const { validation, blockSize } = sampling;
  const windows = windowsIn(validation, blockSize);
  const samples = evaluationSampleCount(sampling);
  return validation.start + Math.floor((index * windows) / samples) * blockSize;
}

/** Evaluation samples that the validation split can give, at most `evaluationSamples`. */
export function evaluationSampleCount(sampling: Sampling): number {
  return Math.min(sampling.evaluationSamples, windowsIn(sampling.validation, sampling.blockSize));
}

/** A keyed permutation of [0, size): a four-round Feistel network with cycle walking. */
export function permute(value: number, size: number, key: number): number {
  const bits = Math.max(2, Math.ceil(Math.log2(Math.max(2, size))));
  const half = Math.ceil(bits / 2);
  const base = 2 ** half;
  let current = value;
  do {
    let left = Math.floor(current / base);
    let right = current % base;
    for (let round = 0; round < 4; round++) {
      [left, right] = [right, (left + (mix32(key, round, right) % base)) % base];
    }
    current = left * base + right;
  } while (current >= size);
  return current;
}
