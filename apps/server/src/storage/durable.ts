/** Files that survive a power cut: temporary file, fsync, rename, fsync of the folder. */
import { closeSync, fsyncSync, mkdirSync, openSync, renameSync, rmSync, writeSync } from 'node:fs';
import { dirname } from 'node:path';

/** Writes all of `bytes`; a single write may be short. */
export function writeFully(fd: number, bytes: Uint8Array): void {
  let written = 0;
  while (written < bytes.byteLength) {
    written += writeSync(fd, bytes, written, Math.min(bytes.byteLength - written, 1 << 30));
  }
}

export function syncFolder(path: string): void {
  const fd = openSync(path, 'r');
  try {
    fsyncSync(fd);
  } finally {
    closeSync(fd);
  }
}

/** Writes the parts one after another to `path`, all or nothing. Blocks: call it off the event loop for large files. */
export function writeDurable(path: string, parts: readonly Uint8Array[], mode = 0o644): void {
  mkdirSync(dirname(path), { recursive: true });
  const temporary = `${path}.tmp`;
  const fd = openSync(temporary, 'w', mode);
  try {
    for (const part of parts) writeFully(fd, part);
    fsyncSync(fd);
  } catch (error) {
    closeSync(fd);
    rmSync(temporary, { force: true });
    throw error;
  }
  closeSync(fd);
  renameSync(temporary, path);
  syncFolder(dirname(path));
}
