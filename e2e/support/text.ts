/** The text that the browser tests train on, and how well a model must do to have learned anything. */
import { existsSync, readFileSync } from 'node:fs';
import { writeTales } from '../../apps/server/src/demo/tales.ts';
import { inRoot } from '../../scripts/workspace/paths.mjs';

/** Tiny Shakespeare where it lies beside the repository, else the text that the server ships for its demo run. */
export function trainingText(): string {
  const shakespeare = inRoot('..', 'shared', 'data', 'tinyshakespeare', 'input.txt');
  return existsSync(shakespeare) ? readFileSync(shakespeare, 'utf8') : writeTales(7, 1500);
}

/**
 * Entropy of the characters of `text` taken one by one, in nats: the lowest mean loss that a model can reach
 * without looking at what came before.
 */
export function unigramEntropy(text: string): number {
  const counts = new Map<string, number>();
  let total = 0;
  for (const character of text) {
    counts.set(character, (counts.get(character) ?? 0) + 1);
    total++;
  }
  let entropy = 0;
  for (const count of counts.values()) entropy -= (count / total) * Math.log(count / total);
  return entropy;
}
