/**
 * SHA-256 of a download. The platform's, where there is one; over plain HTTP to another machine a page has none,
 * and then the bytes are hashed in script while they come in.
 */
import { sha256 } from '@noble/hashes/sha2.js';

export interface Hasher {
  update(chunk: Uint8Array): void;
  /** Lower-case hexadecimal; `whole` is everything that was given to `update`. */
  digest(whole: Uint8Array<ArrayBuffer>): Promise<string>;
}

/** @param subtle null to hash in script. */
export function createHasher(subtle: SubtleCrypto | null = platformSubtle()): Hasher {
  if (subtle) {
    return {
      update: () => undefined,
      digest: async (whole) => hexadecimal(new Uint8Array(await subtle.digest('SHA-256', whole))),
    };
  }
  const hash = sha256.create();
  return {
    update: (chunk) => void hash.update(chunk),
    digest: async () => hexadecimal(hash.digest()),
  };
}

function platformSubtle(): SubtleCrypto | null {
  return (globalThis.crypto as Crypto | undefined)?.subtle ?? null;
}

function hexadecimal(bytes: Uint8Array): string {
  return Array.from(bytes, (byte) => byte.toString(16).padStart(2, '0')).join('');
}
