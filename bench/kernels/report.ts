/** What a run of the bench finds; written to JSON as it is. */
import type { Spread } from './spread.ts';

export interface AdapterReport {
  name: string;
  software: boolean;
  maxBindingBytes: number;
}

export interface Ceilings {
  /** The fastest product of matrices seen on the device, floating-point operations a second. */
  flops: number;
  /** What reached it. */
  flopsBy: string;
  /** Bytes read and written a second by a plain copy. */
  bandwidth: number;
}

export interface ContenderResult {
  contender: string;
  /** Milliseconds from parameters in the page's memory to the first loss; null when not measured. */
  first: number | null;
  /** Milliseconds a step (or a launch), one value a round. */
  rounds: number[];
  time: Spread;
  /** How many times faster than the base contender; null for want of one. */
  speedup: Spread | null;
  /** Share of what the ceilings allow, 0 to 1; null until they are known. */
  ofCeiling: number | null;
}

export interface CaseResult {
  name: string;
  flops: number;
  bytes: number;
  base: string | null;
  contenders: ContenderResult[];
  /** Contenders that were left out, and why. */
  skipped: { contender: string; reason: string }[];
}

export interface StepResult extends CaseResult {
  loss: number;
  gradientNorm: number;
}

export interface Report {
  at: string;
  machine: { processor: string; cores: number; platform: string };
  browser: string;
  adapter: AdapterReport;
  ceilings: Ceilings;
  steps: StepResult[];
  kernels: CaseResult[];
}
