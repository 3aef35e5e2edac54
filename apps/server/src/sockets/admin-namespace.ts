/** The `/admin` namespace: pushes what the dashboard watches, a few times a second at most. */
import { watchSchema, type AdminPushes, type MetricPoint } from '@tabweave/shared';
import type { FastifyBaseLogger } from 'fastify';
import type { Namespace, Socket } from 'socket.io';
import type { RunService } from '../runs/run-service.ts';
import type { AdminAuth } from '../security/admin-auth.ts';
import { SocketGuard } from './guard.ts';

const pushEveryMilliseconds = 500;
const allRuns = 'runs';
const room = (runId: string): string => `run:${runId}`;

export function serveAdmins(
  namespace: Namespace<Record<string, never>, AdminPushes>,
  runs: RunService,
  auth: AdminAuth,
  log: FastifyBaseLogger,
): () => void {
  namespace.use((socket, next) => {
    const token = (socket.handshake.auth as { token?: unknown }).token;
    void auth
      .accepts(typeof token === 'string' ? token : '')
      .then((accepted) => next(accepted ? undefined : new Error('UNAUTHORIZED')))
      .catch((error: unknown) => next(error instanceof Error ? error : new Error(String(error))));
  });
  namespace.on('connection', (socket) => {
    const guard = new SocketGuard(socket as unknown as Socket, log);
    guard.on('watch', watchSchema, async ({ runId }) => {
      for (const joined of [...socket.rooms]) if (joined !== socket.id) await socket.leave(joined);
      await socket.join(runId === null ? allRuns : room(runId));
      if (runId === null) socket.emit('runs', runs.list());
      else {
        socket.emit('run', runs.get(runId));
        socket.emit('workers', { runId, workers: runs.workers(runId) });
      }
      return undefined;
    });
  });

  const changed = new Set<string>();
  const points = new Map<string, MetricPoint[]>();
  let listed = false;
  const onChanged = (runId: string): void => void changed.add(runId);
  const onPoints = (runId: string, fresh: MetricPoint[]): void =>
    void points.set(runId, [...(points.get(runId) ?? []), ...fresh]);
  const onListed = (): void => void (listed = true);
  runs.on('changed', onChanged).on('points', onPoints).on('listed', onListed);
  const watched = (name: string): boolean => (namespace.adapter.rooms.get(name)?.size ?? 0) > 0;
  const timer = setInterval(() => {
    if ((listed || changed.size > 0) && watched(allRuns)) namespace.to(allRuns).emit('runs', runs.list());
    const known = new Set(runs.list().map((run) => run.id));
    for (const runId of changed) {
      if (!known.has(runId) || !watched(room(runId))) continue;
      namespace.to(room(runId)).emit('run', runs.get(runId));
      namespace.to(room(runId)).emit('workers', { runId, workers: runs.workers(runId) });
    }
    for (const [runId, fresh] of points) namespace.to(room(runId)).emit('metrics', { runId, points: fresh });
    changed.clear();
    points.clear();
    listed = false;
  }, pushEveryMilliseconds);
  return () => {
    clearInterval(timer);
    runs.off('changed', onChanged).off('points', onPoints).off('listed', onListed);
  };
}
