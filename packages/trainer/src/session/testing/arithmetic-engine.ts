/**
 * An engine whose results are a plain function of parameters and tokens, for tests of the session: exact sums to
 * compare with, passes that wait to be let go, and failures on demand. What a real device computes is the engine's
 * own test.
 */
import { gpt2Layout, type Encoding } from '@tabweave/shared';
import {
  EngineError,
  type EncodedSum,
  type Engine,
  type GradientSum,
  type LoadedModel,
} from '../../engine/engine.ts';
import { ErrorFeedback } from '../../engine/error-feedback.ts';

export interface ArithmeticOptions {
  /** Awaited in each pass, before it counts. */
  onPass?: (pass: number) => Promise<void> | void;
  /** Factor on each gradient. */
  scale?: number;
}

/** One sample's contribution to element `i`: depends on the parameters and on the order of the tokens. */
function term(parameters: Float32Array, tokens: Int32Array, i: number): number {
  const token = tokens[i % tokens.length] as number;
  return Math.fround(0.01 * ((token + 3 * (i % 97)) % 53) - 0.25 + (parameters[i] as number));
}

/** The gradient sum of rows of `row` tokens, float32, in the order of the rows. */
export function arithmeticGradient(
  parameters: Float32Array,
  tokens: Int32Array,
  row: number,
  scale = 1,
): Float32Array {
  const sum = new Float32Array(parameters.length);
  for (let start = 0; start < tokens.length; start += row) {
    const sample = tokens.subarray(start, start + row);
    for (let i = 0; i < sum.length; i++) sum[i] = (sum[i] as number) + scale * term(parameters, sample, i);
  }
  return sum;
}

/** Sum over rows of their mean token, divided by 10. */
export function arithmeticLoss(tokens: Int32Array, row: number): number {
  return tokens.reduce((sum, token) => sum + token, 0) / row / 10;
}

export class ArithmeticEngine implements Engine {
  readonly report = {
    backend: 'cpu',
    fallbackReason: '',
    environment: 'node',
    adapter: 'arithmetic',
    software: true,
    features: [],
    memoryBytes: 2 ** 31,
    maxBufferBytes: 2 ** 30,
    hardwareThreads: 1,
    profile: null,
    userAgent: '',
  } as const satisfies Engine['report'];
  readonly lost: Promise<EngineError>;
  readonly #options: ArithmeticOptions;
  #lose: (error: EngineError) => void = () => undefined;
  #row = 0;
  #parameters = new Float32Array(0);
  readonly #feedback = new ErrorFeedback();
  #sum = new Float32Array(0);
  #loss = 0;
  cold = true;
  passes = 0;
  loads = 0;
  disposed = false;
  /** Thrown by the next pass. */
  failure: Error | null = null;

  constructor(options: ArithmeticOptions = {}) {
    this.#options = options;
    this.lost = new Promise((resolve) => {
      this.#lose = resolve;
    });
  }

  lose(message: string): void {
    this.#lose(new EngineError('device-lost', message));
  }

  async testKernels(): Promise<[]> {
    return [];
  }

  async measure(): Promise<null> {
    return null;
  }

  async prepare(): Promise<void> {
    // Nothing to compile.
  }

  async load(model: LoadedModel, parameters: Float32Array): Promise<void> {
    if (parameters.length !== gpt2Layout(model.config).size)
      throw new RangeError('parameters of another size');
    this.#row = model.blockSize + 1;
    this.#parameters = parameters.slice();
    this.#sum = new Float32Array(parameters.length);
    this.loads++;
  }

  begin(): void {
    this.#sum.fill(0);
    this.#loss = 0;
  }

  async accumulate(tokens: Int32Array, samples: number): Promise<void> {
    await this.#pass(tokens, samples);
    const gradient = arithmeticGradient(this.#parameters, tokens, this.#row, this.#options.scale);
    for (let i = 0; i < gradient.length; i++)
      this.#sum[i] = (this.#sum[i] as number) + (gradient[i] as number);
    this.#loss += arithmeticLoss(tokens, this.#row);
  }

  async finish(): Promise<GradientSum> {
    return { lossSum: this.#loss, gradientSum: this.#sum.slice() };
  }

  async finishEncoded(model: string, encoding: Encoding): Promise<EncodedSum> {
    const { lossSum, gradientSum } = await this.finish();
    return { lossSum, ...this.#feedback.encode(model, gradientSum, encoding) };
  }

  async evaluate(tokens: Int32Array, samples: number): Promise<number> {
    await this.#pass(tokens, samples);
    return arithmeticLoss(tokens, this.#row);
  }

  logits(): Promise<Float32Array> {
    return Promise.reject(new Error('the arithmetic engine has no logits'));
  }

  memoryBytes(): number {
    return 8 * this.#parameters.length;
  }

  dispose(): void {
    this.disposed = true;
  }

  async #pass(tokens: Int32Array, samples: number): Promise<void> {
    if (this.disposed) throw new Error('used after dispose');
    if (tokens.length !== samples * this.#row) throw new RangeError('tokens of another size');
    this.passes++;
    await this.#options.onPass?.(this.passes);
    if (this.failure) throw this.failure;
    this.cold = false;
  }
}
