/** Rows. JSON columns hold values of the shared schemas; tensors never go into SQL. */

export interface DatasetRow {
  id: string;
  name: string;
  description: string;
  license: string;
  tokenizer: 'character' | 'byte' | 'huggingface';
  vocabulary_size: number;
  bytes: number;
  tokens: number;
  validation_fraction: number;
  preview: string;
  /** JSON: {hash, start, tokens}[] */
  shards: string;
  token_bytes: number;
  /** Blob that holds tokenizer.json. */
  tokenizer_hash: string;
  created_at: string;
}

export interface ModelRow {
  id: string;
  name: string;
  description: string;
  /** JSON: Gpt2Config */
  config: string;
  /** JSON: string[] */
  warnings: string;
  created_at: string;
}

export interface RunRow {
  id: string;
  name: string;
  description: string;
  model_id: string;
  dataset_id: string;
  /** JSON: Recipe */
  recipe: string;
  /** JSON: Strategy */
  strategy: string;
  status: 'draft' | 'running' | 'paused' | 'stopped' | 'finished' | 'failed';
  status_reason: string;
  /** JSON: ParameterVersion of the last committed step; a cache of what the run's folder holds. */
  parameters: string | null;
  created_at: string;
  started_at: string | null;
  finished_at: string | null;
}

export interface MetricRow {
  run_id: string;
  step: number;
  /** JSON: MetricPoint without validationLoss */
  point: string;
  validation_loss: number | null;
}

export interface SessionRow {
  token_hash: string;
  expires_at: string;
}

export interface WorkerRow {
  id: string;
  secret_hash: string;
  name: string;
  accepted_samples: number;
  accepted_contributions: number;
  refused_contributions: number;
  last_seen_at: string;
}

export interface SettingRow {
  key: string;
  value: string;
}

export interface Tables {
  datasets: DatasetRow;
  models: ModelRow;
  runs: RunRow;
  metrics: MetricRow;
  sessions: SessionRow;
  workers: WorkerRow;
  settings: SettingRow;
}
