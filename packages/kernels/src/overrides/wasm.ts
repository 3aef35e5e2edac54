/** What the WASM back end lacks, does slowly or gets wrong for training. */
import * as tf from '@tensorflow/tfjs';
import type { KernelConfig, KernelFunc } from '@tensorflow/tfjs-core';
import { installGradientOverrides } from './gradients.ts';
import { mendWasmMatMul } from './wasm-matmul.ts';

export function installWasmOverrides(): void {
  installGradientOverrides();
  mendWasmMatMul();
  if (!tf.getKernel('UnsortedSegmentSum', 'wasm')) tf.registerKernel(segmentSum);
}

interface WasmBackend {
  typedArrayFromHeap(tensor: tf.TensorInfo): Float32Array | Int32Array | Uint8Array;
  makeOutput(shape: number[], dtype: tf.DataType): tf.TensorInfo;
}

/** Rows added up by segment, in order; ids outside [0, numSegments) are left out. */
const segmentSumKernel: KernelFunc = ({ inputs, backend, attrs }) => {
  const { x, segmentIds } = inputs as { x: tf.TensorInfo; segmentIds: tf.TensorInfo };
  const { numSegments } = attrs as unknown as { numSegments: number };
  const wasm = backend as WasmBackend;
  const rows = segmentIds.shape.reduce((product, size) => product * size, 1);
  const rest = x.shape.slice(segmentIds.shape.length);
  const width = rest.reduce((product, size) => product * size, 1);
  const output = wasm.makeOutput([numSegments, ...rest], x.dtype);
  // Views after the allocation: growing the heap would detach earlier ones.
  const [values, ids, sums] = [x, segmentIds, output].map((tensor) => wasm.typedArrayFromHeap(tensor)) as [
    Float32Array,
    Int32Array,
    Float32Array,
  ];
  sums.fill(0);
  for (let row = 0; row < rows; row++) {
    const segment = ids[row] as number;
    if (segment < 0 || segment >= numSegments) continue;
    for (let i = 0; i < width; i++) {
      const target = segment * width + i;
      sums[target] = (sums[target] as number) + (values[row * width + i] as number);
    }
  }
  return output;
};

const segmentSum: KernelConfig = {
  kernelName: 'UnsortedSegmentSum',
  backendName: 'wasm',
  kernelFunc: segmentSumKernel,
};
