/**
 * GPT-2-family models, described as in Hugging Face's `config.json` (transformers, configuration_gpt2.py).
 * Every field of that file is known here; those that would change the mathematics in a way we do not run
 * are refused by name, and dropout is accepted with a warning, since training here runs without it.
 */
import { z } from 'zod';
import { limits } from '../limits.ts';
import { ProblemError, fieldErrors } from '../problem.ts';

const size = z.number().int().positive();

/** Hugging Face `config.json` of `model_type` `gpt2`; unknown fields are refused. */
export const gpt2ConfigJsonSchema = z
  .strictObject({
    model_type: z.literal('gpt2').default('gpt2'),
    vocab_size: size.max(1_000_000),
    n_positions: size.max(65_536).default(1024),
    n_embd: size.max(16_384),
    n_layer: size.max(512),
    n_head: size.max(512),
    n_inner: size.max(131_072).nullish(),
    layer_norm_epsilon: z.number().positive().max(0.1).default(1e-5),
    initializer_range: z.number().positive().max(1).default(0.02),
    activation_function: z.enum(['gelu_new', 'gelu_pytorch_tanh']).default('gelu_new'),
    tie_word_embeddings: z.literal(true).default(true),
    scale_attn_weights: z.literal(true).default(true),
    scale_attn_by_inverse_layer_idx: z.literal(false).default(false),
    reorder_and_upcast_attn: z.literal(false).default(false),
    add_cross_attention: z.literal(false).default(false),
    resid_pdrop: z.number().min(0).max(1).default(0),
    embd_pdrop: z.number().min(0).max(1).default(0),
    attn_pdrop: z.number().min(0).max(1).default(0),
    // Carried by published files, without effect on training.
    n_ctx: size.optional(),
    architectures: z.array(z.string().max(100)).max(10).optional(),
    bos_token_id: z.number().int().nullish(),
    eos_token_id: z.number().int().nullish(),
    pad_token_id: z.number().int().nullish(),
    use_cache: z.boolean().optional(),
    torch_dtype: z.string().max(30).optional(),
    dtype: z.string().max(30).optional(),
    transformers_version: z.string().max(30).optional(),
    gradient_checkpointing: z.boolean().optional(),
    summary_type: z.string().max(30).optional(),
    summary_use_proj: z.boolean().optional(),
    summary_activation: z.string().max(30).nullish(),
    summary_proj_to_labels: z.boolean().optional(),
    summary_first_dropout: z.number().optional(),
    task_specific_params: z.record(z.string(), z.unknown()).nullish(),
    _name_or_path: z.string().max(200).optional(),
  })
  .meta({ id: 'Gpt2ConfigJson' });
export type Gpt2ConfigJson = z.input<typeof gpt2ConfigJsonSchema>;

/** What the mathematics needs, under one name each. */
export const gpt2ConfigSchema = z
  .strictObject({
    vocabSize: size,
    positions: size,
    width: size,
    layers: size,
    heads: size,
    inner: size,
    layerNormEpsilon: z.number().positive(),
    initializerRange: z.number().positive(),
  })
  .meta({ id: 'Gpt2Config' });
export type Gpt2Config = z.infer<typeof gpt2ConfigSchema>;

export interface ParsedGpt2Config {
  config: Gpt2Config;
  /** What was accepted but is not applied, in words for the person who sent it. */
  warnings: string[];
}

/**
 * Reads a `config.json` value.
 * @throws ProblemError INVALID_MODEL naming the field, when one is unknown, unsupported or impossible.
 */
export function parseGpt2Config(value: unknown): ParsedGpt2Config {
  const parsed = gpt2ConfigJsonSchema.safeParse(value);
  if (!parsed.success) {
    const errors = fieldErrors(parsed.error);
    const first = errors[0];
    throw new ProblemError(
      'INVALID_MODEL',
      `The model config is not usable: ${first ? `${first.path || 'config'}: ${first.message}` : 'invalid'}`,
      errors,
    );
  }
  const json = parsed.data;
  if (json.n_embd % json.n_head !== 0) {
    const message = `n_embd (${json.n_embd}) must be a multiple of n_head (${json.n_head}); for example n_head ${
      [...Array(json.n_head).keys()].map((i) => json.n_head - i).find((h) => json.n_embd % h === 0) ?? 1
    }`;
    throw new ProblemError('INVALID_MODEL', message, [{ path: 'n_head', message }]);
  }
  const config: Gpt2Config = {
    vocabSize: json.vocab_size,
    positions: json.n_positions,
    width: json.n_embd,
    layers: json.n_layer,
    heads: json.n_head,
    inner: json.n_inner ?? 4 * json.n_embd,
    layerNormEpsilon: json.layer_norm_epsilon,
    initializerRange: json.initializer_range,
  };
  const dropout = ['resid_pdrop', 'embd_pdrop', 'attn_pdrop'] as const;
  const warnings = dropout
    .filter((name) => json[name] !== 0)
    .map((name) => `${name} = ${json[name]} is not applied: training runs without dropout`);
  return { config, warnings };
}

/** The `config.json` that `transformers` reads back. */
export function toGpt2ConfigJson(config: Gpt2Config): Gpt2ConfigJson {
  return {
    architectures: ['GPT2LMHeadModel'],
    model_type: 'gpt2',
    activation_function: 'gelu_new',
    vocab_size: config.vocabSize,
    n_positions: config.positions,
    n_ctx: config.positions,
    n_embd: config.width,
    n_layer: config.layers,
    n_head: config.heads,
    n_inner: config.inner === 4 * config.width ? null : config.inner,
    layer_norm_epsilon: config.layerNormEpsilon,
    initializer_range: config.initializerRange,
    attn_pdrop: 0,
    embd_pdrop: 0,
    resid_pdrop: 0,
    tie_word_embeddings: true,
    torch_dtype: 'float32',
  };
}

export const modelParameterLimit = limits.modelParameters;
