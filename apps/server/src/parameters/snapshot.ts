/**
 * Snapshots of a run's optimizer state. File: `TWS1`, header length (uint32), header JSON, padding to 4 bytes,
 * then parameters, first and second moments as float32, then the SHA-256 of all before it. Two are kept, so that
 * a damaged newest one falls back to the one before.
 */
import { createHash } from 'node:crypto';
import { readFileSync, readdirSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { writeDurable } from '../storage/durable.ts';
import { createOptimizerState, type OptimizerState } from './adamw.ts';

const magic = 0x31535754;
const namePattern = /^snapshot-(\d{10})\.bin$/;

export function snapshotPath(folder: string, version: number): string {
  return join(folder, `snapshot-${String(version).padStart(10, '0')}.bin`);
}

/** Versions of the snapshots in a folder, newest first. */
export function snapshotVersions(folder: string): number[] {
  return readdirSync(folder)
    .map((name) => namePattern.exec(name)?.[1])
    .filter((digits) => digits !== undefined)
    .map(Number)
    .sort((a, b) => b - a);
}

function bytesOf(vector: Float32Array): Uint8Array {
  return new Uint8Array(vector.buffer, vector.byteOffset, vector.byteLength);
}

export function writeSnapshot(folder: string, version: number, state: OptimizerState): void {
  const json = Buffer.from(JSON.stringify({ version, elements: state.parameters.length }));
  const header = Buffer.alloc(8 + Math.ceil(json.length / 4) * 4, 0x20);
  header.writeUInt32LE(magic, 0);
  header.writeUInt32LE(header.length - 8, 4);
  json.copy(header, 8);
  const parts = [header, ...[state.parameters, state.firstMoment, state.secondMoment].map(bytesOf)];
  const hash = createHash('sha256');
  for (const part of parts) hash.update(part);
  writeDurable(snapshotPath(folder, version), [...parts, hash.digest()]);
}

/** @throws Error saying what is wrong with the file. */
export function readSnapshot(folder: string, version: number, elements: number): OptimizerState {
  const path = snapshotPath(folder, version);
  const bytes = readFileSync(path);
  const damaged = (why: string): never => {
    throw new Error(`snapshot ${path} is damaged: ${why}`);
  };
  if (bytes.length < 40 || bytes.readUInt32LE(0) !== magic) damaged('it does not begin as one');
  const data = 8 + bytes.readUInt32LE(4);
  const end = data + 3 * 4 * elements;
  if (bytes.length !== end + 32) damaged(`${bytes.length} bytes, not ${end + 32}`);
  const digest = createHash('sha256').update(bytes.subarray(0, end)).digest();
  if (!digest.equals(bytes.subarray(end))) damaged('its checksum does not match');
  const vector = (index: number): Float32Array => {
    const out = new Float32Array(elements);
    const start = data + 4 * elements * index;
    bytesOf(out).set(bytes.subarray(start, start + 4 * elements));
    return out;
  };
  const state = createOptimizerState(vector(0));
  state.firstMoment.set(vector(1));
  state.secondMoment.set(vector(2));
  return state;
}

/** Removes all but the two newest snapshots; gives the version from which the step log is still needed. */
export function pruneSnapshots(folder: string): number {
  const versions = snapshotVersions(folder);
  for (const version of versions.slice(2)) rmSync(snapshotPath(folder, version), { force: true });
  return versions[1] ?? versions[0] ?? 0;
}
