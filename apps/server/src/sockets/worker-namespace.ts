/** The `/worker` namespace: bounds on connections before they have said who they are. */
import { limits } from '@tabweave/shared';
import type { Namespace } from 'socket.io';
import { WorkerSession, type SessionPorts, type WorkerSocket } from './worker-session.ts';

const helloWithinMilliseconds = 10_000;

export function serveWorkers(namespace: Namespace, ports: SessionPorts): void {
  const perAddress = new Map<string, number>();
  namespace.use((socket, next) => {
    const { address } = socket.handshake;
    if ((perAddress.get(address) ?? 0) >= limits.connectionsPerAddress) {
      next(
        new Error(
          `More than ${limits.connectionsPerAddress} connections from one address that have not said hello.`,
        ),
      );
      return;
    }
    next();
  });
  namespace.on('connection', (socket) => {
    const { address } = socket.handshake;
    const session = new WorkerSession(socket as WorkerSocket, ports);
    perAddress.set(address, (perAddress.get(address) ?? 0) + 1);
    let counted = true;
    const uncount = (): void => {
      if (!counted) return;
      counted = false;
      const left = (perAddress.get(address) ?? 1) - 1;
      if (left > 0) perAddress.set(address, left);
      else perAddress.delete(address);
    };
    const timer = setTimeout(() => {
      uncount();
      if (!session.greeted) socket.disconnect(true);
    }, helloWithinMilliseconds);
    socket.on('disconnect', () => {
      clearTimeout(timer);
      uncount();
    });
  });
}
