/**
 * The compute engine behind one small interface: what a worker needs of a device, whatever runs on it.
 * Vectors are flat float32 in the order of the shared parameter layout; tokens are int32.
 */
import type {
  DeviceProfile,
  DeviceReport,
  Encoding,
  FailureReason,
  Gpt2Config,
  SelfTestReport,
} from '@tabweave/shared';

export interface LoadedModel {
  config: Gpt2Config;
  /** Tokens of one sample. */
  blockSize: number;
}

export interface GradientSum {
  /** Sum over samples of the mean token loss, in nats. */
  lossSum: number;
  /** Sum over samples of the gradient of that loss, [layout.size]. A fresh array, owned by the caller. */
  gradientSum: Float32Array;
}

export interface EncodedSum {
  lossSum: number;
  /** The gradient sum as it travels, [layout.size]. */
  bytes: Uint8Array<ArrayBuffer>;
  /** To be called when the server has counted it: what the encoding left out goes into the next one. */
  accepted(): void;
}

export interface Engine {
  readonly report: DeviceReport;
  /** Resolves, once, when the device is gone; nothing computed after that may be used. */
  readonly lost: Promise<EngineError>;
  /** Each kernel of ours against its plain form. @returns those switched off, because this device gets them wrong. */
  testKernels(): Promise<SelfTestReport['switchedOff']>;
  /** What the device can do, measured in about a second; null where there is nothing to measure it with. */
  measure(): Promise<DeviceProfile | null>;
  /** True until a pass of the present shape has run: compilation is still to be paid. */
  readonly cold: boolean;
  /** Makes passes of a model ready (compiled, memory set aside) before its parameters are there. */
  prepare(model: LoadedModel, samples: number): Promise<void>;
  /** Takes parameters ([layout.size], copied); the compiled state stays when model and block size are the same. */
  load(model: LoadedModel, parameters: Float32Array): Promise<void>;
  /** Clears the gradient sum and the loss sum. */
  begin(): void;
  /**
   * Forward and backward of one pass, added to the sums on the device.
   * @param tokens [samples, blockSize + 1], row major: inputs are the first blockSize of a row, targets the last.
   * Resolves when the device has done it.
   */
  accumulate(tokens: Int32Array, samples: number): Promise<void>;
  /** Reads the sums back: one read-back per contribution. */
  finish(): Promise<GradientSum>;
  /**
   * Reads the sums back as they will travel, the gradient together with what earlier encodings of `model` left out.
   * @param model names the run and shape that the gradient is of. @throws EngineError `non-finite`.
   */
  finishEncoded(model: string, encoding: Encoding): Promise<EncodedSum>;
  /** Sum over samples of the mean token loss, without gradients. Same token layout as `accumulate`. */
  evaluate(tokens: Int32Array, samples: number): Promise<number>;
  /** Logits after the last of `ids` (1 to `positions` of them), [vocabSize]. */
  logits(ids: Int32Array): Promise<Float32Array>;
  /** Bytes held on the device, as the back end counts them. */
  memoryBytes(): number;
  dispose(): void;
}

/** A failure that stops the present work; `reason` is what the server is told. */
export class EngineError extends Error {
  readonly reason: FailureReason;

  constructor(reason: FailureReason, message: string, options?: ErrorOptions) {
    super(message, options);
    this.name = 'EngineError';
    this.reason = reason;
  }
}
