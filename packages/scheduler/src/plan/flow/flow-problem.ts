/**
 * What the placement of layer ranges is about (Helix, ASPLOS'25): how much flow a device sustains with the layers
 * [from, to), and how much a link carries. Flow is in micro-batches per second, or tokens per second in serving.
 */
export interface FlowProblem {
  /** L */
  layers: number;
  devices: number;
  /**
   * Flow that device d sustains while it holds the layers [from, to), whatever part of them a micro-batch takes;
   * 0 where they do not fit.
   */
  rate(device: number, from: number, to: number): number;
  /** The largest `to` such that [from, from + 1) up to [from, to) fit device d; `from` where nothing fits. */
  reach(device: number, from: number): number;
  /** Flow that the path from device d to device e carries across the boundary before layer `boundary`. */
  link(d: number, e: number, boundary: number): number;
  /** Flow from the server to device d, which starts at layer 0. */
  source(device: number): number;
  /** Flow from device d, which ends at layer L, to the server. */
  sink(device: number): number;
}

/** Device d holds the layers [from[d], to[d]); none where the two are equal. */
export interface Placement {
  from: Int32Array;
  to: Int32Array;
}

export function emptyPlacement(devices: number): Placement {
  return { from: new Int32Array(devices), to: new Int32Array(devices) };
}

export function copyPlacement({ from, to }: Placement): Placement {
  return { from: from.slice(), to: to.slice() };
}

/** @throws RangeError where a range leaves the layers or does not fit its device. */
export function checkPlacement(problem: FlowProblem, { from, to }: Placement): void {
  for (let device = 0; device < problem.devices; device++) {
    const start = from[device]!;
    const end = to[device]!;
    if (start === end) continue;
    if (start < 0 || end > problem.layers || start > end)
      throw new RangeError(`Device ${device} holds [${start}, ${end}) of ${problem.layers} layers`);
    if (end > problem.reach(device, start))
      throw new RangeError(
        `Device ${device} holds [${start}, ${end}), but from layer ${start} it has room up to ${problem.reach(device, start)}`,
      );
  }
}
