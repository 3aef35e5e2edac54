/** The admin's session: a token in this browser's storage, shared by all its tabs. */
import { useSyncExternalStore } from 'react';

const key = 'tabweave.session';

export interface Session {
  token: string;
  /** ISO timestamp. */
  expiresAt: string;
}

export interface SessionState {
  session: Session | null;
  /** Whether the last session ended because the server no longer took it. */
  refused: boolean;
}

const listeners = new Set<() => void>();
let state: SessionState = { session: stored(), refused: false };

function stored(): Session | null {
  try {
    const session = JSON.parse(localStorage.getItem(key) ?? 'null') as Session | null;
    return session !== null && Date.parse(session.expiresAt) > Date.now() ? session : null;
  } catch {
    return null;
  }
}

function become(next: SessionState): void {
  state = next;
  for (const listener of listeners) listener();
}

export function currentSession(): Session | null {
  return state.session;
}

export function openSession(session: Session): void {
  try {
    localStorage.setItem(key, JSON.stringify(session));
  } catch {
    // Storage may be forbidden: the session then lasts as long as the tab.
  }
  become({ session, refused: false });
}

export function endSession(refused: boolean): void {
  try {
    localStorage.removeItem(key);
  } catch {
    // Nothing was stored.
  }
  become({ session: null, refused });
}

function subscribe(listener: () => void): () => void {
  listeners.add(listener);
  const elsewhere = (event: StorageEvent): void => {
    if (event.key === key) become({ session: stored(), refused: false });
  };
  addEventListener('storage', elsewhere);
  return () => {
    listeners.delete(listener);
    removeEventListener('storage', elsewhere);
  };
}

export function useSession(): SessionState {
  return useSyncExternalStore(subscribe, () => state);
}
