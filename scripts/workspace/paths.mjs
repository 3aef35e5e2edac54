/** Where things are in this repository, whatever folder it was called from. */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

export const root = fileURLToPath(new URL('../..', import.meta.url));

/** @param {string[]} parts */
export const inRoot = (...parts) => join(root, ...parts);

/** The Node that the lockfile pins: the same for everyone, whatever the host has. */
export const pinnedNode = inRoot(
  'node_modules',
  'node',
  'bin',
  process.platform === 'win32' ? 'node.exe' : 'node',
);

/** @returns {{ packageManager: string, version: string }} */
export const rootPackage = () => JSON.parse(readFileSync(inRoot('package.json'), 'utf8'));
