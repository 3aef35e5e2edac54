/**
 * The flow problem of a workload on devices: rates from FLOPs, memory and the device's own link; capacities of links
 * from the bytes of the boundary tensors. Flow is in micro-batches per second.
 */
import type { Device, Network } from '../problem.ts';
import type { Workload } from '../problem.ts';
import type { FlowProblem } from './flow-problem.ts';

export interface WorldFlowInput {
  workload: Workload;
  devices: readonly Device[];
  network: Network;
  /** Samples. */
  microBatch: number;
  /**
   * 'training': a device computes forward, then backward with the forward again (1 + 2 + 1 times the forward's FLOPs;
   * 1 + 2 in one task at the end of the model), and links carry activations one way and gradients the other.
   * 'serving': forward only.
   */
  mode?: 'training' | 'serving';
  /** Bytes of one sample as the server sends it; 0 (no limit) unless given. */
  inputBytes?: number;
}

export interface WorldFlow extends FlowProblem {
  /** Bytes that device memory must hold for [from, to) besides the micro-batches that wait; see `windowOf`. */
  memoryBytes(from: number, to: number): number;
  /** Micro-batches in flight that the device has memory for with [from, to), at least 1. */
  windowOf(device: number, from: number, to: number): number;
}

const bytesPerFloat = 4;

/** @throws RangeError where the micro-batch is below one sample. */
export function worldFlow({
  workload,
  devices,
  network,
  microBatch,
  mode = 'training',
  inputBytes = 0,
}: WorldFlowInput): WorldFlow {
  if (!(microBatch >= 1)) throw new RangeError(`A micro-batch of ${microBatch} samples: at least 1`);
  const { layers, boundaryScale } = workload;
  const training = mode === 'training';
  const flops = prefixSums(layers.map(({ forwardFlops }) => forwardFlops));
  const parameters = prefixSums(layers.map((layer) => layer.parameters));
  const activations = prefixSums(layers.map(({ activationBytes }) => activationBytes));
  /** Float32 bytes of the tensor before layer l, of one micro-batch. */
  const boundary = Float64Array.from({ length: layers.length + 1 }, (_, layer) =>
    layer === 0 || layer === layers.length ? 0 : layers[layer - 1]!.boundaryBytes * microBatch,
  );
  const up = devices.map((_, device) => network.up(device).bytesPerSecond);
  const down = devices.map((_, device) => network.down(device).bytesPerSecond);

  const memoryBytes = (from: number, to: number): number =>
    (training ? 2 : 1) * bytesPerFloat * (parameters[to]! - parameters[from]!) +
    (training ? activations[to]! - activations[from]! : 0) * microBatch +
    boundary[from]! +
    boundary[to]!;
  const rate = (device: number, from: number, to: number): number => {
    const { rate: speed, fixedSeconds } = devices[device]!;
    const last = to === layers.length;
    const passes = !training ? 1 : last ? 3 : 4;
    const tasks = training && !last ? 2 : 1;
    const compute = tasks * fixedSeconds + (passes * (flops[to]! - flops[from]!) * microBatch) / speed;
    const sent = boundaryScale * (boundary[to]! + (training ? boundary[from]! : 0));
    const received = boundaryScale * (boundary[from]! + (training ? boundary[to]! : 0));
    const seconds = Math.max(compute, sent / up[device]!, received / down[device]!);
    // A device that computes a layer without FLOPs in no time still handles it: one microsecond.
    return 1 / Math.max(seconds, 1e-6);
  };
  // Memory grows with `to`, apart from the boundary tensor: a scan from the last reach on, kept per memory size.
  const reaches = new Map<number, Int32Array>();
  const reachOf = (bytes: number): Int32Array => {
    const known = reaches.get(bytes);
    if (known !== undefined) return known;
    const reach = Int32Array.from(layers.keys(), (from) => {
      let to = from;
      while (to < layers.length && memoryBytes(from, to + 1) <= bytes) to++;
      return to;
    });
    reaches.set(bytes, reach);
    return reach;
  };
  const reach = devices.map(({ memoryBytes: bytes }) => reachOf(bytes));
  const capacity = (bytesPerSecond: number, bytes: number): number =>
    bytes > 0 ? bytesPerSecond / bytes : Infinity;

  return {
    layers: layers.length,
    devices: devices.length,
    rate,
    reach: (device, from) => reach[device]![from] ?? from,
    link: (d, e, layer) => {
      const bytes = boundaryScale * boundary[layer]!;
      const forward = capacity(network.between(d, e).bytesPerSecond, bytes);
      return training ? Math.min(forward, capacity(network.between(e, d).bytesPerSecond, bytes)) : forward;
    },
    source: (device) => capacity(down[device]!, inputBytes * microBatch),
    sink: () => Infinity,
    memoryBytes,
    windowOf: (device, from, to) => {
      const free = devices[device]!.memoryBytes - memoryBytes(from, to);
      const each = boundary[from]! + boundary[to]!;
      const most = Math.max(1, Math.ceil(workload.globalBatch / microBatch));
      return each > 0 ? Math.max(1, Math.min(most, 1 + Math.floor(free / each))) : most;
    },
  };
}

function prefixSums(values: readonly number[]): Float64Array {
  const sums = new Float64Array(values.length + 1);
  values.forEach((value, index) => {
    sums[index + 1] = sums[index]! + value;
  });
  return sums;
}
