/** Who competes. The code of each is loaded by the page alone, and only in that contender's own page. */

export interface ContenderEntry {
  id: string;
  name: string;
  /** Kinds of model that it can train. */
  trains: readonly ('gpt2' | 'cnn')[];
  /** Whether it has the single operations too. */
  operations: boolean;
}

export const contenders = [
  { id: 'tfjs-webgpu', name: 'TensorFlow.js WebGPU', trains: ['gpt2', 'cnn'], operations: true },
  { id: 'tfjs-webgl', name: 'TensorFlow.js WebGL', trains: ['gpt2', 'cnn'], operations: true },
  { id: 'jax', name: 'jax-js WebGPU', trains: ['gpt2', 'cnn'], operations: true },
  { id: 'tabweave-ops', name: 'Tabweave, op by op', trains: ['gpt2', 'cnn'], operations: true },
  { id: 'tabweave', name: 'Tabweave, captured', trains: ['gpt2', 'cnn'], operations: false },
] as const satisfies readonly ContenderEntry[];

export type ContenderId = (typeof contenders)[number]['id'];

/** All others are compared with this one. */
export const baseContender: ContenderId = 'tfjs-webgpu';

export const nameOf = (id: string): string => contenders.find((contender) => contender.id === id)?.name ?? id;
