/** Keeps the tiles measured for this device's matrix products from visit to visit, by adapter. */
import type { TileStore } from '@tabweave/trainer';
import { get, set } from 'idb-keyval';

const key = (adapter: string): string => `tabweave tiles ${adapter}`;

export const tileStore: TileStore = {
  read: (adapter) => get(key(adapter)),
  write: (adapter, choices) => set(key(adapter), choices),
};
