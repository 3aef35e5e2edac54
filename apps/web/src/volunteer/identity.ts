/** The identity that the server gave this device, kept so that a later visit counts for the same volunteer. */
import type { Identity } from './messages.ts';

const key = 'tabweave.identity';

type Store = Pick<Storage, 'getItem' | 'setItem' | 'removeItem'>;

/** @returns null where there is none, or where storage is not allowed. */
export function loadIdentity(store: () => Store = () => localStorage): Identity | null {
  try {
    const value: unknown = JSON.parse(store().getItem(key) ?? 'null');
    if (typeof value !== 'object' || value === null) return null;
    const { workerId, secret } = value as Partial<Record<keyof Identity, unknown>>;
    return typeof workerId === 'string' && typeof secret === 'string' ? { workerId, secret } : null;
  } catch {
    return null;
  }
}

/** Where storage is not allowed the identity lasts as long as the tab. */
export function saveIdentity(identity: Identity, store: () => Store = () => localStorage): void {
  try {
    store().setItem(key, JSON.stringify(identity));
  } catch {
    // Private windows refuse storage; the server then sees a new volunteer next time.
  }
}

export function forgetIdentity(store: () => Store = () => localStorage): void {
  try {
    store().removeItem(key);
  } catch {
    // Nothing was kept.
  }
}
