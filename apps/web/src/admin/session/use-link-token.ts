/** `/admin?token=…` or `/admin#token=…`: the one-time token of a printed link, exchanged for a session. */
import { useEffect, useState } from 'react';
import { errorWords } from '../../api/api-error.ts';
import { exchangeToken } from '../../api/calls.ts';
import { currentSession, openSession } from '../../api/session.ts';

/** The token of an address, and the address without it. */
export function splitLinkToken(address: string): { token: string | null; rest: string } {
  const url = new URL(address);
  const hash = new URLSearchParams(url.hash.slice(1));
  const token = url.searchParams.get('token') ?? hash.get('token');
  url.searchParams.delete('token');
  if (hash.has('token')) url.hash = '';
  return { token, rest: url.href };
}

/** A link token can be spent once: asked for twice, it is exchanged once. */
const exchanges = new Map<string, Promise<string | null>>();

function exchange(token: string): Promise<string | null> {
  const started = exchanges.get(token);
  if (started) return started;
  const made = exchangeToken(token).then(
    (session) => {
      openSession(session);
      return null;
    },
    (error: unknown) => (currentSession() === null ? errorWords(error).detail : null),
  );
  exchanges.set(token, made);
  return made;
}

export function useLinkToken(): { exchanging: boolean; error: string | null } {
  const [token] = useState(() => splitLinkToken(location.href).token);
  const [state, setState] = useState({ exchanging: token !== null, error: null as string | null });
  useEffect(() => {
    if (token === null) return;
    let current = true;
    history.replaceState(history.state, '', splitLinkToken(location.href).rest);
    void exchange(token).then((error) => current && setState({ exchanging: false, error }));
    return () => {
      current = false;
    };
  }, [token]);
  return state;
}
