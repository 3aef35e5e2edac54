/** The thread that owns one run's ParameterStore. Operations come one at a time, in order. */
import { parentPort, workerData } from 'node:worker_threads';
import type { StepResult } from './adamw.ts';
import { ParameterStore, type StoreOptions } from './store.ts';
import type { StoreOperation, StoreReply, StoreRequest } from './store-client.ts';

const port = parentPort;
if (!port) throw new Error('store-thread runs as a worker thread only');
const store = new ParameterStore(workerData as StoreOptions);
/** A step that is in the log but whose parameters could not be published yet (a full disk): the retry begins there. */
let unpublished: StepResult | undefined;

function commit(meta: unknown): unknown {
  let snapshotError: string | undefined;
  // Before the step, not after it: by now whoever keeps the run's history has the steps that a snapshot covers, and
  // which a restart would not replay.
  if (unpublished === undefined && store.snapshotDue) {
    try {
      store.snapshot();
    } catch (error) {
      snapshotError = (error as Error).message;
    }
  }
  unpublished ??= store.commit(meta);
  const reply = { ...store.publish(), result: unpublished, ...(snapshotError ? { snapshotError } : {}) };
  unpublished = undefined;
  return reply;
}

function run(operation: StoreOperation): unknown {
  switch (operation.type) {
    case 'open':
      return store.open();
    case 'add':
      return store.add(operation.contribution);
    case 'commit':
      return commit(operation.meta);
    case 'parameters':
      return store.parameters();
    case 'close':
      return store.close();
  }
}

port.on('message', ({ id, operation }: StoreRequest) => {
  let reply: StoreReply;
  const transfer: ArrayBuffer[] = [];
  try {
    const value = run(operation);
    if (value instanceof Float32Array) transfer.push(value.buffer as ArrayBuffer);
    reply = { id, ok: true, value };
  } catch (error) {
    const { message, code } = error as NodeJS.ErrnoException;
    reply = { id, ok: false, message, code: code ?? null };
  }
  port.postMessage(reply, transfer);
});
