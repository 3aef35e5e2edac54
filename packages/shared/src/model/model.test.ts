import { describe, expect, it } from 'vitest';
import { ProblemError } from '../problem.ts';
import { parseGpt2Config, toGpt2ConfigJson } from './gpt2-config.ts';
import { gpt2LayerGraph } from './layer-graph.ts';
import { countParameters, gpt2Layout } from './layout.ts';
import { modelPresets } from './presets.ts';

/** The published config.json of openai-community/gpt2. */
const published = {
  activation_function: 'gelu_new',
  architectures: ['GPT2LMHeadModel'],
  attn_pdrop: 0.1,
  bos_token_id: 50256,
  embd_pdrop: 0.1,
  eos_token_id: 50256,
  initializer_range: 0.02,
  layer_norm_epsilon: 1e-5,
  model_type: 'gpt2',
  n_ctx: 1024,
  n_embd: 768,
  n_head: 12,
  n_layer: 12,
  n_positions: 1024,
  resid_pdrop: 0.1,
  summary_activation: null,
  summary_first_dropout: 0.1,
  summary_proj_to_labels: true,
  summary_type: 'cls_index',
  summary_use_proj: true,
  task_specific_params: { 'text-generation': { do_sample: true, max_length: 50 } },
  vocab_size: 50257,
};

describe('GPT-2 config', () => {
  it('reads the published file and says that dropout is not applied', () => {
    const { config, warnings } = parseGpt2Config(published);
    expect(config).toMatchObject({ width: 768, layers: 12, heads: 12, inner: 3072, vocabSize: 50257 });
    expect(warnings).toHaveLength(3);
  });

  it('has the published number of parameters, and the layout agrees', () => {
    const { config } = parseGpt2Config(published);
    expect(countParameters(config)).toBe(124_439_808);
    expect(gpt2Layout(config).size).toBe(124_439_808);
    expect(gpt2Layout(config).tensors).toHaveLength(148);
    const graph = gpt2LayerGraph(config, 1024);
    expect(graph.reduce((sum, layer) => sum + layer.parameters, 0)).toBe(124_439_808);
  });

  it('goes out as a file that comes back the same', () => {
    const { config } = parseGpt2Config({ vocab_size: 9, n_embd: 6, n_head: 3, n_layer: 2, n_inner: 10 });
    expect(parseGpt2Config(toGpt2ConfigJson(config)).config).toEqual(config);
  });

  it.each([
    [{ ...published, n_head: 7 }, 'multiple of n_head'],
    [{ ...published, typo_field: 1 }, 'typo_field'],
    [{ ...published, n_layer: 0 }, 'n_layer'],
    [{ ...published, n_embd: 12.5 }, 'n_embd'],
    [{ ...published, activation_function: 'relu' }, 'activation_function'],
    [{ ...published, tie_word_embeddings: false }, 'tie_word_embeddings'],
    [{ ...published, model_type: 'llama' }, 'model_type'],
    [{ ...published, vocab_size: undefined }, 'vocab_size'],
    ['text', 'object'],
  ])('refuses what it cannot run, naming it (%#)', (value, words) => {
    expect(() => parseGpt2Config(value)).toThrow(ProblemError);
    expect(() => parseGpt2Config(value)).toThrow(words);
  });

  it('accepts every preset', () => {
    for (const preset of modelPresets) {
      expect(parseGpt2Config({ ...preset.config, vocab_size: 65 }).warnings).toEqual([]);
    }
  });
});

describe('layout', () => {
  it('has no gaps, decays matrices only, and scales residual projections', () => {
    const { config } = parseGpt2Config({ vocab_size: 9, n_embd: 6, n_head: 3, n_layer: 2 });
    const { tensors, size } = gpt2Layout(config);
    let offset = 0;
    for (const tensor of tensors) {
      expect(tensor.offset).toBe(offset);
      offset += tensor.size;
      expect(tensor.decay).toBe(tensor.shape.length === 2);
    }
    expect(offset).toBe(size);
    const deviation = (name: string): number | null => {
      const found = tensors.find((tensor) => tensor.name === name)?.initialisation;
      return found?.kind === 'normal' ? found.standardDeviation : null;
    };
    expect(deviation('transformer.h.1.attn.c_proj.weight')).toBeCloseTo(0.01);
    expect(deviation('transformer.h.1.mlp.c_proj.weight')).toBeCloseTo(0.01);
    expect(deviation('transformer.h.1.mlp.c_fc.weight')).toBeCloseTo(0.02);
  });
});
