/** A leased task as it goes to its worker: what to compute, and where to fetch what that takes. */
import type { Task } from '@tabweave/shared';
import type { LeasedTask } from '@tabweave/scheduler';
import { shardsOf } from '../datasets/dataset-service.ts';
import type { ParameterVersion } from '../parameters/store.ts';
import type { RunDefinition } from './definition.ts';

export function taskMessage(definition: RunDefinition, { blob }: ParameterVersion, task: LeasedTask): Task {
  return {
    ...task,
    runId: definition.id,
    config: definition.config,
    parameters: {
      url: `/parameters/${definition.id}/${blob.hash}`,
      hash: blob.hash,
      bytes: blob.bytes,
      encoding: definition.strategy.parameterEncoding,
    },
    sampling: definition.sampling,
    data: {
      tokenBytes: definition.dataset.token_bytes === 2 ? 2 : 4,
      shards: shardsOf(definition.dataset).map((shard) => ({ ...shard, url: `/blobs/${shard.hash}` })),
    },
    gradientEncoding: definition.strategy.gradientEncoding,
  };
}
