/** The small CNN with the operations that TensorFlow.js has. */
import * as tf from '@tensorflow/tfjs';
import { cnnShapes } from '../../models.ts';

/** @param images [samples, 28, 28, 1]. @param classes int32 [samples]. @returns the mean loss. */
export function cnnLoss(
  parameters: readonly tf.Tensor[],
  images: tf.Tensor4D,
  classes: tf.Tensor1D,
): tf.Scalar {
  const [w1, b1, w2, b2, w3, b3] = parameters as [
    tf.Tensor4D,
    tf.Tensor1D,
    tf.Tensor4D,
    tf.Tensor1D,
    tf.Tensor2D,
    tf.Tensor1D,
  ];
  const layer = (x: tf.Tensor4D, weight: tf.Tensor4D, bias: tf.Tensor1D): tf.Tensor4D => {
    const active = tf.relu(tf.add(tf.conv2d(x, weight, 1, 'same'), bias)) as tf.Tensor4D;
    return tf.maxPool(active, 2, 2, 'valid');
  };
  const features = layer(layer(images, w1, b1), w2, b2);
  const flat = tf.reshape(features, [images.shape[0], w3.shape[0]]);
  const logits = tf.add(tf.matMul(flat, w3), b3);
  return tf.losses.softmaxCrossEntropy(tf.oneHot(classes, cnnShapes.classes), logits) as tf.Scalar;
}
