import { crc32 as zlibCrc32 } from 'node:zlib';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { limits } from '../limits.ts';
import { crc32 } from './crc32.ts';
import { decodeFrame, encodeFrame, frameCount, frameHeaderBytes } from './frame.ts';

describe('frames', () => {
  it('come back as they went, for any lease up to the largest safe integer', () => {
    fc.assert(
      fc.property(
        fc.uint8Array({ maxLength: 2000 }),
        fc.integer({ min: 1, max: Number.MAX_SAFE_INTEGER }),
        fc.nat(50),
        (payload, lease, index) => {
          const frame = { lease, index, count: index + 3, payload };
          expect(decodeFrame(encodeFrame(frame))).toEqual(frame);
        },
      ),
    );
  });

  it('show any single flipped bit, in header or payload', () => {
    const bytes = encodeFrame({ lease: 7, index: 0, count: 1, payload: Uint8Array.of(1, 2, 3, 4, 5) });
    const unchecked = new Set<number>();
    for (let bit = 0; bit < 8 * bytes.length; bit++) {
      const damaged = bytes.slice();
      damaged[bit >> 3] = (damaged[bit >> 3] as number) ^ (1 << (bit & 7));
      try {
        const { lease, index, count } = decodeFrame(damaged);
        // Lease, index and count are judged by the receiver, who knows what they must be.
        expect(lease !== 7 || index !== 0 || count !== 1 || (bit >> 3 >= 4 && bit >> 3 < 8)).toBe(true);
        unchecked.add(bit >> 3);
      } catch (error) {
        expect((error as Error).message).toContain('Not a usable tensor frame');
      }
    }
    expect([...unchecked].every((byte) => byte >= 4 && byte < 24)).toBe(true);
  });

  it('stay below the socket bound, and are as many as the payload needs', () => {
    expect(frameHeaderBytes + limits.frameBytes).toBeLessThan(limits.socketMessageBytes);
    expect(frameCount(1)).toBe(1);
    expect(frameCount(limits.frameBytes)).toBe(1);
    expect(frameCount(limits.frameBytes + 1)).toBe(2);
  });

  it('use the CRC-32 that zip uses', () => {
    fc.assert(
      fc.property(fc.uint8Array(), (bytes) => {
        expect(crc32(bytes)).toBe(zlibCrc32(bytes));
      }),
    );
  });
});
