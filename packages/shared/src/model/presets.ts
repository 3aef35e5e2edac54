/** Ready-made GPT-2 shapes; `vocab_size` is filled from the dataset's tokenizer. */
import type { Gpt2ConfigJson } from './gpt2-config.ts';

export interface ModelPreset {
  id: string;
  name: string;
  description: string;
  config: Omit<Gpt2ConfigJson, 'vocab_size'>;
}

export const modelPresets: readonly ModelPreset[] = [
  {
    id: 'nano',
    name: 'Nano',
    description: '2 layers, width 32, 64 tokens: minutes on any laptop',
    config: { n_layer: 2, n_head: 2, n_embd: 32, n_positions: 64 },
  },
  {
    id: 'micro',
    name: 'Micro',
    description: '4 layers, width 128, 128 tokens: readable words after some hundred steps',
    config: { n_layer: 4, n_head: 4, n_embd: 128, n_positions: 128 },
  },
  {
    id: 'mini',
    name: 'Mini',
    description: '6 layers, width 384, 256 tokens: a good model of one author on a few GPUs',
    config: { n_layer: 6, n_head: 6, n_embd: 384, n_positions: 256 },
  },
  {
    id: 'gpt2',
    name: 'GPT-2',
    description: '12 layers, width 768, 1024 tokens: the 124M model; needs GPUs with several GB',
    config: { n_layer: 12, n_head: 12, n_embd: 768, n_positions: 1024 },
  },
];
