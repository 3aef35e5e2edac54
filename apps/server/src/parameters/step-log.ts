/**
 * The durable step log: one record for each committed step, with the mean gradient that the optimizer was given.
 * A step is committed when its record is on disk; replaying the records after a snapshot gives the same bits.
 *
 * Record: `TWR1`, header length, payload bytes (uint32 each), CRC-32 of header and payload, header JSON, payload
 * (float32). A file `log-<version>.bin` holds the records from that version on; a torn last record is cut off.
 */
import {
  closeSync,
  copyFileSync,
  fdatasyncSync,
  ftruncateSync,
  fstatSync,
  fsyncSync,
  openSync,
  readSync,
  readdirSync,
  renameSync,
  rmSync,
} from 'node:fs';
import { join } from 'node:path';
import { crc32 } from 'node:zlib';
import { syncFolder, writeFully } from '../storage/durable.ts';

const magic = 0x31525754;
const recordHeaderBytes = 16;
const namePattern = /^log-(\d{10})\.bin$/;

export interface StepRecord {
  /** The version that the step started from. */
  version: number;
  /** What the run's history needs of the step; stored as JSON. */
  meta: unknown;
  gradient: Float32Array;
}

function logPath(folder: string, version: number): string {
  return join(folder, `log-${String(version).padStart(10, '0')}.bin`);
}

/** First versions of the log files in a folder, oldest first. */
export function logVersions(folder: string): number[] {
  return readdirSync(folder)
    .map((name) => namePattern.exec(name)?.[1])
    .filter((digits) => digits !== undefined)
    .map(Number)
    .sort((a, b) => a - b);
}

export class StepLog {
  readonly #folder: string;
  #fd: number | undefined;
  #end = 0;

  constructor(folder: string) {
    this.#folder = folder;
  }

  /** Bytes in the present file. */
  get bytes(): number {
    return this.#end;
  }

  /** Begins a new file for the records from `version` on. */
  rotate(version: number): void {
    this.close();
    this.#fd = openSync(logPath(this.#folder, version), 'w');
    fsyncSync(this.#fd);
    syncFolder(this.#folder);
    this.#end = 0;
  }

  /** Appends and syncs; on an error (a full disk) the file is cut back to its last whole record. */
  append(record: StepRecord): void {
    const fd = this.#fd;
    if (fd === undefined) throw new Error('the step log is not open');
    const header = Buffer.from(JSON.stringify({ version: record.version, meta: record.meta }));
    const payload = new Uint8Array(
      record.gradient.buffer,
      record.gradient.byteOffset,
      record.gradient.byteLength,
    );
    const prefix = Buffer.alloc(recordHeaderBytes);
    prefix.writeUInt32LE(magic, 0);
    prefix.writeUInt32LE(header.length, 4);
    prefix.writeUInt32LE(payload.byteLength, 8);
    prefix.writeUInt32LE(crc32(payload, crc32(header)), 12);
    try {
      writeFully(fd, prefix);
      writeFully(fd, header);
      writeFully(fd, payload);
      fdatasyncSync(fd);
    } catch (error) {
      // Reopened in append position: a write after a truncation must not leave a hole.
      ftruncateSync(fd, this.#end);
      closeSync(fd);
      this.#fd = openSync(this.#lastPath(), 'a');
      throw error;
    }
    this.#end += prefix.length + header.length + payload.byteLength;
  }

  #lastPath(): string {
    return logPath(this.#folder, logVersions(this.#folder).at(-1) ?? 0);
  }

  /**
   * Replays the records from `version` on, in order, across files, and leaves the log open for appending after the
   * last. A torn or damaged record ends the replay; it is cut off with all that follows it, which is kept beside.
   * @returns the version after the last record, and what was cut off, in words.
   */
  replay(
    version: number,
    elements: number,
    apply: (record: StepRecord) => void,
  ): { next: number; cut: string | null } {
    this.close();
    let next = version;
    const files = logVersions(this.#folder);
    let intact = true;
    let cut: string | null = null;
    for (const [index, first] of files.entries()) {
      const successor = files[index + 1];
      if (!intact) {
        // Steps after a damaged one cannot be applied; kept under another name for whoever wants to look.
        renameSync(logPath(this.#folder, first), `${logPath(this.#folder, first)}.damaged`);
        continue;
      }
      if (successor !== undefined && successor <= version) continue;
      const fd = openSync(logPath(this.#folder, first), 'r+');
      const end = readRecords(fd, elements, (record) => {
        if (record.version < next) return;
        if (record.version > next) {
          throw new Error(`the step log in ${this.#folder} goes from version ${next} to ${record.version}`);
        }
        apply(record);
        next++;
      });
      if (end < fstatSync(fd).size) {
        const path = logPath(this.#folder, first);
        const kept = `${path}.cut-${end}`;
        copyFileSync(path, kept);
        cut = `the step log ends with ${fstatSync(fd).size - end} bytes that are no whole step; the file as it was is kept as ${kept}`;
        ftruncateSync(fd, end);
        fsyncSync(fd);
        intact = false;
      }
      closeSync(fd);
      this.#end = end;
    }
    if (logVersions(this.#folder).length === 0) this.rotate(next);
    else this.#fd = openSync(this.#lastPath(), 'a');
    return { next, cut };
  }

  /** Removes files whose records are all older than `version`. */
  prune(version: number): void {
    const files = logVersions(this.#folder);
    for (const [index, first] of files.entries()) {
      const successor = files[index + 1];
      if (successor !== undefined && successor <= version) rmSync(logPath(this.#folder, first));
    }
  }

  close(): void {
    if (this.#fd !== undefined) closeSync(this.#fd);
    this.#fd = undefined;
  }
}

/** Reads whole records until the file ends or one is damaged; gives the offset after the last good one. */
function readRecords(fd: number, elements: number, take: (record: StepRecord) => void): number {
  const prefix = Buffer.alloc(recordHeaderBytes);
  let offset = 0;
  for (;;) {
    if (readSync(fd, prefix, 0, recordHeaderBytes, offset) < recordHeaderBytes) return offset;
    const headerBytes = prefix.readUInt32LE(4);
    const payloadBytes = prefix.readUInt32LE(8);
    if (prefix.readUInt32LE(0) !== magic || payloadBytes !== 4 * elements || headerBytes > 1 << 20)
      return offset;
    const header = Buffer.alloc(headerBytes);
    const gradient = new Float32Array(elements);
    const payload = new Uint8Array(gradient.buffer);
    if (readSync(fd, header, 0, headerBytes, offset + recordHeaderBytes) < headerBytes) return offset;
    if (!readFully(fd, payload, offset + recordHeaderBytes + headerBytes)) return offset;
    if (crc32(payload, crc32(header)) !== prefix.readUInt32LE(12)) return offset;
    const { version, meta } = JSON.parse(header.toString()) as { version: number; meta: unknown };
    take({ version, meta, gradient });
    offset += recordHeaderBytes + headerBytes + payloadBytes;
  }
}

function readFully(fd: number, target: Uint8Array, position: number): boolean {
  let read = 0;
  while (read < target.byteLength) {
    const length = Math.min(target.byteLength - read, 1 << 30);
    const count = readSync(fd, target, read, length, position + read);
    if (count === 0) return false;
    read += count;
  }
  return true;
}
