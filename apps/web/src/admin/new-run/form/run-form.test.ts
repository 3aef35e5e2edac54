import { countParameters, modelPresets, type Dataset, type Model } from '@tabweave/shared';
import { expect, test } from 'vitest';
import { estimate } from './estimate.ts';
import { resolveModel } from './resolve-model.ts';
import { initialForm, type RunForm } from './run-form.ts';
import { messageAt, toRunInput } from './to-run-input.ts';

const dataset: Dataset = {
  id: 'tales1',
  name: 'Tales',
  description: '',
  license: '',
  tokenizer: 'character',
  vocabularySize: 65,
  bytes: 10_000,
  tokens: 10_000,
  trainTokens: 9000,
  validationTokens: 1000,
  preview: 'Once',
  createdAt: '2026-01-01T00:00:00.000Z',
};
const micro = resolveModel({ kind: 'preset', presetId: 'micro' }, 65, []);
const check = (change: Partial<RunForm>, model = micro, data: Dataset | null = dataset) =>
  toRunInput({ ...initialForm, ...change }, data, model);

test('an untouched form with a dataset is a whole request', () => {
  const { input, errors } = check({});
  expect(errors).toEqual([]);
  expect(input).toMatchObject({
    name: 'Micro on Tales',
    datasetId: 'tales1',
    recipe: { blockSize: 128, globalBatch: 32, learningRate: 1e-3 },
    strategy: { batchPolicy: 'proportional', gradientEncoding: 'float32' },
  });
  expect(input).not.toHaveProperty('modelId');
});

test('the preset takes its vocabulary from the dataset', () => {
  expect(micro.config?.vocabSize).toBe(65);
  expect(micro.json).toMatchObject({ n_embd: 128, vocab_size: 65 });
  expect(micro.parameters).toBe(countParameters(micro.config!));
});

test('an emptied number is an error, not zero', () => {
  const { input, errors } = check({ numbers: { warmupSteps: ' ' } });
  expect(input).toBeNull();
  expect(messageAt(errors, 'recipe.warmupSteps')).toBe('Enter a number.');
});

test('one mistake does not hide another, and estimates stand', () => {
  const { errors, recipe } = check({
    numbers: { learningRate: 'abc', globalBatch: '2.5', blockSize: '200' },
  });
  expect(messageAt(errors, 'recipe.learningRate')).toBe('Enter a number.');
  expect(messageAt(errors, 'recipe.globalBatch')).toMatch(/int/);
  expect(messageAt(errors, 'recipe.blockSize')).toMatch(/128 positions/);
  expect(recipe).toMatchObject({ learningRate: 1e-3, globalBatch: 32, blockSize: 200 });
});

test('samples longer than the model or the text are named at the field', () => {
  expect(messageAt(check({ numbers: { blockSize: '200' } }).errors, 'recipe.blockSize')).toBe(
    '200 tokens, but the model has 128 positions',
  );
  const short = { ...dataset, validationTokens: 128 };
  expect(messageAt(check({}, micro, short).errors, 'recipe.evaluateEvery')).toMatch(
    /validation part has 128 tokens; one sample needs 129/,
  );
});

test('a config that cannot work is refused by the field that is wrong', () => {
  const pasted = resolveModel(
    { kind: 'config', text: '{"n_embd": 100, "n_layer": 2, "n_head": 3, "dropout": 1}' },
    65,
    [],
  );
  expect(pasted.config).toBeNull();
  expect(pasted.errors[0]?.message).toMatch(/dropout/);
  const uneven = resolveModel({ kind: 'config', text: '{"n_embd": 100, "n_layer": 2, "n_head": 3}' }, 65, []);
  expect(uneven.errors).toEqual([{ path: 'n_head', message: expect.stringMatching(/multiple of n_head/) }]);
});

test('text that is not JSON says so', () => {
  expect(resolveModel({ kind: 'config', text: '{n_embd: 1}' }, 65, []).errors[0]?.message).toMatch(
    /not JSON/,
  );
});

test('a vocabulary smaller than the tokenizer is refused', () => {
  const text = '{"n_embd": 32, "n_layer": 1, "n_head": 2, "n_positions": 64, "vocab_size": 50}';
  const small = resolveModel({ kind: 'config', text }, 65, []);
  expect(messageAt(check({}, small).errors, 'modelId')).toMatch(/vocab_size is 50.*65 tokens/);
});

test('a saved model of the same shape and name is used again', () => {
  const saved = { ...micro, id: 'model1', name: 'Micro', description: '', createdAt: '' } as unknown as Model;
  expect(resolveModel({ kind: 'preset', presetId: 'micro' }, 65, [saved]).modelId).toBe('model1');
  expect(resolveModel({ kind: 'preset', presetId: 'micro' }, 66, [saved]).modelId).toBeNull();
});

test('each preset is valid', () => {
  for (const { id } of modelPresets) {
    expect(resolveModel({ kind: 'preset', presetId: id }, 65, []).errors).toEqual([]);
  }
});

test('int8 gradients take a quarter and a little', () => {
  const { recipe } = check({});
  const cost = estimate(
    micro.config!,
    micro.parameters,
    recipe,
    { ...initialForm.strategy, gradientEncoding: 'int8' },
    dataset,
  );
  expect(cost.downloadBytes).toBe(4 * micro.parameters);
  expect(cost.uploadBytes).toBe(micro.parameters + 4 * Math.ceil(micro.parameters / 256));
  expect(cost.epochs).toBeCloseTo((32 * 128 * 1000) / 9000, 9);
});
