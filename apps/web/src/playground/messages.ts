/** Between the playground and its Web Worker. */
import type { Gpt2Config, ParameterEncoding } from '@tabweave/shared';
import type { SamplingOptions } from './sample-token.ts';

export interface LoadMessage {
  type: 'load';
  config: Gpt2Config;
  /** Encoded flat parameters; handed over, not copied. */
  parameters: ArrayBuffer;
  encoding: ParameterEncoding;
}

export interface GenerateMessage {
  type: 'generate';
  /** Counts up; answers carry it. */
  request: number;
  /** Of the prompt, at least one. */
  ids: number[];
  /** Tokens to draw. */
  length: number;
  sampling: SamplingOptions;
  seed: number;
}

export type ToGenerator = LoadMessage | GenerateMessage | { type: 'stop' };

export type FromGenerator =
  | { type: 'loaded'; device: string }
  | { type: 'token'; request: number; id: number }
  | { type: 'done'; request: number }
  | { type: 'failed'; message: string };
