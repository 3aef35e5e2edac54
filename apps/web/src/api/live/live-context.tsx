import { useQueryClient } from '@tanstack/react-query';
import { createContext, useContext, useEffect, useState, useSyncExternalStore, type ReactNode } from 'react';
import { AdminSocket, type LinkState } from './admin-socket.ts';

const Context = createContext<AdminSocket | null>(null);
const noSubscription = (): (() => void) => () => undefined;
const connecting = (): LinkState => 'connecting';

/** Holds the dashboard's one socket while somebody is signed in. */
export function LiveProvider({ token, children }: { token: string; children: ReactNode }) {
  const cache = useQueryClient();
  const [socket, setSocket] = useState<AdminSocket | null>(null);
  useEffect(() => {
    const made = new AdminSocket(token, cache);
    // The socket is an outside system that must be opened and closed with the component.
    // eslint-disable-next-line react-hooks/set-state-in-effect
    setSocket(made);
    return () => made.close();
  }, [token, cache]);
  return <Context value={socket}>{children}</Context>;
}

/** Whether pushes arrive. */
export function useLinkState(): LinkState {
  const socket = useContext(Context);
  return useSyncExternalStore(socket?.subscribe ?? noSubscription, socket?.state ?? connecting);
}

/** Has the server push what this page shows: one run, or with null the list of runs. */
export function useWatch(runId: string | null): void {
  const socket = useContext(Context);
  useEffect(() => socket?.watch(runId), [socket, runId]);
}
