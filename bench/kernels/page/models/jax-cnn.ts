/** The small CNN with jax-js, whose convolutions are [N, C, H, W] with kernels [out, in, H, W]. */
import { lax, nn, numpy as np } from '@jax-js/jax';
import { cnnShapes } from '../../models.ts';
import { meanCrossEntropy } from './jax-gpt2.ts';

/** Every argument is consumed. @param images [samples, 1, 28, 28]. @returns the mean loss. */
export function cnnLoss(parameters: np.Array[], images: np.Array, classes: np.Array): np.Array {
  const [w1, b1, w2, b2, w3, b3] = parameters as [np.Array, np.Array, np.Array, np.Array, np.Array, np.Array];
  const samples = images.shape[0] as number;
  const layer = (x: np.Array, weight: np.Array, bias: np.Array): np.Array => {
    const channels = bias.shape[0] as number;
    const sum = lax.conv(x, weight, [1, 1], 'SAME').add(bias.reshape([channels, 1, 1]));
    return lax.reduceWindow(nn.relu(sum), np.max, [2, 2], [2, 2]);
  };
  const features = layer(layer(images, w1, b1), w2, b2);
  const flat = features.reshape([samples, w3.shape[0] as number]);
  return meanCrossEntropy(np.matmul(flat, w3).add(b3), classes, cnnShapes.classes);
}

/** Parameters laid out for channels last, as this file wants them: the same numbers in another order. */
export function channelsFirst(name: string, values: Float32Array, shape: readonly number[]): Rearranged {
  if (name.startsWith('conv') && shape.length === 4) {
    const [height, width, from, to] = shape as [number, number, number, number];
    const out = new Float32Array(values.length);
    values.forEach((value, index) => {
      const o = index % to;
      const i = Math.floor(index / to) % from;
      const place = Math.floor(index / (to * from));
      out[(o * from + i) * height * width + place] = value;
    });
    return { values: out, shape: [to, from, height, width] };
  }
  if (name === 'dense.weight') {
    const [rows, classes] = shape as [number, number];
    const channels = 16;
    const places = rows / channels;
    const out = new Float32Array(values.length);
    values.forEach((value, index) => {
      const row = Math.floor(index / classes);
      const target = (row % channels) * places + Math.floor(row / channels);
      out[target * classes + (index % classes)] = value;
    });
    return { values: out, shape: [rows, classes] };
  }
  return { values, shape: [...shape] };
}

interface Rearranged {
  values: Float32Array;
  shape: number[];
}
