/** Sends one contribution: announcement, frames, end; gives back the receipt. */
import {
  contributionReceiptSchema,
  encodeFrame,
  frameCount,
  limits,
  type ContributionBegin,
  type ContributionReceipt,
} from '@tabweave/shared';
import { sleep } from '../abort.ts';
import type { Link } from '../connection/link.ts';
import { Refused } from '../failure.ts';
import { SendWindow } from './send-window.ts';

export interface SendPorts {
  link: Link;
  signal: AbortSignal;
  /** Called with the bytes of each acknowledged frame. */
  onSent(bytes: number): void;
}

export interface Sent {
  receipt: ContributionReceipt;
  uploadMilliseconds: number;
}

/** The server may hold the announcement back until it has memory for the bytes. */
const beginMilliseconds = 600_000;
const frameMilliseconds = 90_000;
/** The end waits for the check of the whole vector, and for work that the server does before it. */
const endMilliseconds = 180_000;
const slowDownMilliseconds = 250;

/**
 * @param bytes the encoded gradient; empty for an evaluation, which has no frames.
 * @throws Refused when the server does not take it; ConnectionLost, Unanswered; the signal's reason when aborted.
 */
export async function sendContribution(
  begin: ContributionBegin,
  bytes: Uint8Array<ArrayBuffer>,
  ports: SendPorts,
): Promise<Sent> {
  const { link, signal } = ports;
  signal.throwIfAborted();
  const began = performance.now();
  await link.ask('contribution:begin', begin, beginMilliseconds);
  if (bytes.byteLength > 0) await sendFrames(begin.lease, bytes, ports);
  signal.throwIfAborted();
  const uploadMilliseconds = performance.now() - began;
  const reply = await link.ask(
    'contribution:end',
    { lease: begin.lease, uploadMilliseconds },
    endMilliseconds,
  );
  return { receipt: contributionReceiptSchema.parse(reply), uploadMilliseconds };
}

async function sendFrames(lease: number, bytes: Uint8Array<ArrayBuffer>, ports: SendPorts): Promise<void> {
  const window = new SendWindow();
  const inFlight = new Set<Promise<void>>();
  const count = frameCount(bytes.byteLength);
  const failures: unknown[] = [];
  for (let index = 0; index < count && failures.length === 0; index++) {
    while (inFlight.size >= window.size) await Promise.race(inFlight);
    ports.signal.throwIfAborted();
    const payload = bytes.subarray(index * limits.frameBytes, (index + 1) * limits.frameBytes);
    const sending: Promise<void> = sendFrame({ lease, index, count, payload }, window, ports)
      .catch((error: unknown) => void failures.push(error))
      .finally(() => inFlight.delete(sending));
    inFlight.add(sending);
  }
  await Promise.all(inFlight);
  const [failure] = failures;
  if (failure instanceof Error) throw failure;
}

/** Sends again when the server says that frames come too fast. */
async function sendFrame(
  frame: Parameters<typeof encodeFrame>[0],
  window: SendWindow,
  ports: SendPorts,
): Promise<void> {
  for (;;) {
    const sentAt = performance.now();
    try {
      await ports.link.ask('frame', encodeFrame(frame), frameMilliseconds);
      window.acknowledged(performance.now() - sentAt);
      ports.onSent(frame.payload.byteLength);
      return;
    } catch (error) {
      if (!(error instanceof Refused && error.problem.code === 'TOO_MANY')) throw error;
      window.congested();
      await sleep(slowDownMilliseconds, ports.signal);
    }
  }
}
