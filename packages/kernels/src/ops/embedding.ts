/** Rows of a table by index, with positions added, and gradients in a fixed order. */
import type * as tf from '@tensorflow/tfjs';
import { zeroKernel } from '../elementwise/elementwise.ts';
import {
  embeddingBackward,
  embeddingChains,
  embeddingForward,
  positionsBackward,
  type EmbeddingShape,
} from '../embed/embedding.ts';
import type { KernelRuntime } from '../kernel/runtime.ts';
import * as twin from '../twins/embedding.ts';
import { runtimeFor, withGradient } from './usable.ts';

/** @param table [entries, width]; @param ids int32 [rows], each in [0, entries). @returns [rows, width]. */
export function embedding(table: tf.Tensor2D, ids: tf.Tensor1D): tf.Tensor2D {
  const runtime = runtimeFor('embedding-forward', 'embedding-backward', 'zero');
  if (!runtime) return twin.embedding(table, ids);
  const [entries, columns] = table.shape;
  return embed(runtime, { rows: ids.size, entries, columns, positions: 0 }, ids, [table]);
}

/**
 * A row of `table` for each id plus the row of `positions` for its place in its sample.
 * @param positions [at least tokens, width]; @param ids int32 [samples x tokens]. @returns [samples x tokens, width].
 */
export function embeddingWithPositions(
  table: tf.Tensor2D,
  positions: tf.Tensor2D,
  ids: tf.Tensor1D,
  tokens: number,
): tf.Tensor2D {
  const runtime = runtimeFor('embedding-forward', 'embedding-backward', 'zero');
  if (!runtime) return twin.embeddingWithPositions(table, positions, ids, tokens);
  const [entries, columns] = table.shape;
  return embed(runtime, { rows: ids.size, entries, columns, positions: tokens }, ids, [table, positions]);
}

function embed(
  runtime: KernelRuntime,
  shape: EmbeddingShape,
  ids: tf.Tensor1D,
  tables: tf.Tensor2D[],
): tf.Tensor2D {
  const { rows, columns } = shape;
  return withGradient(
    tables,
    (save) => {
      save([ids]);
      return runtime.run(
        embeddingForward(shape),
        [ids, ...tables],
        [{ shape: [rows, columns] }],
      )[0] as tf.Tensor;
    },
    (dy, saved) => {
      const kept = saved[0] as tf.Tensor;
      const [chains] = runtime.run(embeddingChains(rows), [kept], [{ shape: [rows, 2], dtype: 'int32' }]) as [
        tf.Tensor,
      ];
      const gradients = tables.map(
        (table) => runtime.run(zeroKernel(table.size), [], [{ shape: table.shape }])[0] as tf.Tensor,
      );
      const [table, positions] = gradients as [tf.Tensor, tf.Tensor | undefined];
      runtime.runInto(embeddingBackward(shape), [kept, chains, dy], [table]);
      if (positions) runtime.runInto(positionsBackward(shape, runtime.traits), [dy], [positions]);
      chains.dispose();
      return gradients;
    },
  ) as tf.Tensor2D;
}
