import { describe, expect, it } from 'vitest';
import { parseGpt2Config } from '../model/gpt2-config.ts';
import { incompatibilities } from './compatible.ts';
import { recipeSchema } from './recipe.ts';

const { config } = parseGpt2Config({ vocab_size: 20, n_positions: 16, n_embd: 4, n_layer: 1, n_head: 1 });
const text = { vocabularySize: 20, trainTokens: 17, validationTokens: 17 };
const recipe = recipeSchema.parse({ blockSize: 16, warmupSteps: 5, maxSteps: 5 });
const paths = (...parameters: Parameters<typeof incompatibilities>): string[] =>
  incompatibilities(...parameters).map(({ path }) => path);

describe('incompatibilities', () => {
  it('finds nothing in what just fits', () => {
    expect(incompatibilities(config, text, recipe)).toEqual([]);
  });

  it.each([
    ['one position too few', { ...config, positions: 15 }, text, recipe, ['recipe.blockSize']],
    ['one token too many', config, { ...text, vocabularySize: 21 }, recipe, ['modelId']],
    ['warm-up beyond the run', config, text, { ...recipe, warmupSteps: 6 }, ['recipe.warmupSteps']],
    ['one training token too few', config, { ...text, trainTokens: 16 }, recipe, ['recipe.blockSize']],
    [
      'one validation token too few',
      config,
      { ...text, validationTokens: 16 },
      recipe,
      ['recipe.evaluateEvery'],
    ],
    [
      'no validation where none is asked',
      config,
      { ...text, validationTokens: 0 },
      { ...recipe, evaluateEvery: 0 },
      [],
    ],
  ])('%s', (_, model, dataset, how, expected) => {
    expect(paths(model, dataset, how)).toEqual(expected);
  });
});
