/**
 * Exact int32 operations in WGSL. The stock back end computes integers through float32, which is exact below 2^24
 * only, and a cast between the two merely renames the type.
 */
import type { TensorInfo } from '@tensorflow/tfjs-core';
import type { WebGPUBackend } from '@tensorflow/tfjs-backend-webgpu';

type Program = Parameters<WebGPUBackend['runWebGPUProgram']>[0];

const workgroup = 64;

/** A flat program: one invocation for each element of the output. */
function flatProgram(
  outputShape: number[],
  variableNames: string[],
  shaderKey: string,
  body: string,
): Program {
  const size = outputShape.reduce((product, dimension) => product * dimension, 1);
  return {
    outputShape,
    variableNames,
    shaderKey,
    size: true,
    dispatchLayout: { x: outputShape.map((_, axis) => axis) },
    dispatch: [Math.ceil(size / workgroup), 1, 1],
    workgroupSize: [workgroup, 1, 1],
    getUserCode: () => `fn main(index : i32) {
      if (index < uniforms.size) {
        ${body}
      }
    }`,
  };
}

function strides(shape: readonly number[]): number[] {
  const result = shape.map(() => 1);
  for (let axis = shape.length - 2; axis >= 0; axis--) {
    result[axis] = (result[axis + 1] as number) * (shape[axis + 1] as number);
  }
  return result;
}

/** @param x int32 of any rank. */
export function transposeIntegers(
  backend: WebGPUBackend,
  x: TensorInfo,
  perm: readonly number[],
): TensorInfo {
  const outputShape = perm.map((axis) => x.shape[axis] as number);
  const inputStrides = strides(x.shape);
  const source = strides(outputShape)
    .map((stride, axis) => {
      const input = inputStrides[perm[axis] as number] as number;
      return `(index / ${stride}) % ${outputShape[axis]} * ${input}`;
    })
    .join(' + ');
  const key = `tw_transpose_i32_${outputShape.join('x')}_${perm.join()}`;
  const program = flatProgram(outputShape, ['x'], key, `result[index] = x[${source || '0'}];`);
  return backend.runWebGPUProgram(program, [x], 'int32');
}

/** Rows of x [rows, ...rest] added up by id, in order; ids outside [0, segments) are left out. */
export function segmentSumIntegers(
  backend: WebGPUBackend,
  x: TensorInfo,
  ids: TensorInfo,
  segments: number,
): TensorInfo {
  const rows = ids.shape.reduce((product, size) => product * size, 1);
  const rest = x.shape.slice(ids.shape.length);
  const width = rest.reduce((product, size) => product * size, 1);
  const body = `
        let segment = index / ${width};
        let column = index % ${width};
        var sum = 0;
        for (var row = 0; row < ${rows}; row++) {
          if (ids[row] == segment) { sum += x[row * ${width} + column]; }
        }
        result[index] = sum;`;
  const program = flatProgram([segments, ...rest], ['x', 'ids'], `tw_segment_sum_i32_${rows}_${width}`, body);
  return backend.runWebGPUProgram(program, [x, ids], 'int32');
}

/** @param x int32 or bool, both of which lie as 32-bit integers. @returns the same numbers as float32. */
export function integersToFloats(backend: WebGPUBackend, x: TensorInfo): TensorInfo {
  const program = flatProgram([...x.shape], ['x'], 'tw_i32_to_f32', 'result[index] = f32(x[index]);');
  return backend.runWebGPUProgram(program, [x], 'float32');
}
