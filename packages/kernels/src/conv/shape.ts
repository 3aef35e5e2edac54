/** What a two-dimensional convolution goes over, channels last. */
import type { backend_util } from '@tensorflow/tfjs-core';

export interface ConvShape {
  readonly batch: number;
  readonly inHeight: number;
  readonly inWidth: number;
  readonly inChannels: number;
  readonly outHeight: number;
  readonly outWidth: number;
  readonly outChannels: number;
  readonly filterHeight: number;
  readonly filterWidth: number;
  readonly strideHeight: number;
  readonly strideWidth: number;
  readonly dilationHeight: number;
  readonly dilationWidth: number;
  readonly padTop: number;
  readonly padLeft: number;
}

/** Null where a kernel of ours does not fit: channels first, or both a stride and a dilation along one axis. */
export function convShape(info: backend_util.Conv2DInfo): ConvShape | null {
  const { strideHeight, strideWidth, dilationHeight, dilationWidth } = info;
  const mixed = (strideHeight > 1 && dilationHeight > 1) || (strideWidth > 1 && dilationWidth > 1);
  if (info.dataFormat !== 'channelsLast' || mixed) return null;
  const shape: ConvShape = {
    batch: info.batchSize,
    inHeight: info.inHeight,
    inWidth: info.inWidth,
    inChannels: info.inChannels,
    outHeight: info.outHeight,
    outWidth: info.outWidth,
    outChannels: info.outChannels,
    filterHeight: info.filterHeight,
    filterWidth: info.filterWidth,
    strideHeight,
    strideWidth,
    dilationHeight,
    dilationWidth,
    padTop: info.padInfo.top,
    padLeft: info.padInfo.left,
  };
  const { padTop, padLeft, ...sizes } = shape;
  const whole = Object.values(sizes).every((size) => Number.isInteger(size) && size > 0);
  return whole && padTop >= 0 && padLeft >= 0 ? shape : null;
}

export function convKey(shape: ConvShape): string {
  return [
    `${shape.batch}x${shape.inHeight}x${shape.inWidth}x${shape.inChannels}`,
    `${shape.outHeight}x${shape.outWidth}x${shape.outChannels}`,
    `${shape.filterHeight}x${shape.filterWidth}`,
    `${shape.strideHeight}x${shape.strideWidth}`,
    `${shape.dilationHeight}x${shape.dilationWidth}`,
    `${shape.padTop} ${shape.padLeft}`,
  ].join(' ');
}

export function convFlops(shape: ConvShape): number {
  const { batch, outHeight, outWidth, outChannels, filterHeight, filterWidth, inChannels } = shape;
  return 2 * batch * outHeight * outWidth * outChannels * filterHeight * filterWidth * inChannels;
}
