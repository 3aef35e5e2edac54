import { useState, type SyntheticEvent } from 'react';
import { ApiError, errorWords } from '../../api/api-error.ts';
import { exchangeToken } from '../../api/calls.ts';
import { openSession } from '../../api/session.ts';
import { Alert, Button, TextField } from '../../ui/index.ts';
import { Logo } from '../parts/logo.tsx';
import { useTitle } from '../parts/use-title.ts';

/** @param refused whether the server has just refused a session. @param linkError why a sign-in link failed. */
export function SignIn({ refused, linkError }: { refused: boolean; linkError: string | null }) {
  useTitle('Sign in');
  const [token, setToken] = useState('');
  const [busy, setBusy] = useState(false);
  const [error, setError] = useState<string | null>(null);

  const submit = async (event: SyntheticEvent): Promise<void> => {
    event.preventDefault();
    if (token.trim() === '') return setError('Enter the admin token.');
    setBusy(true);
    setError(null);
    try {
      openSession(await exchangeToken(token.trim()));
    } catch (thrown) {
      const wrong = thrown instanceof ApiError && thrown.status === 401;
      setError(
        wrong ? 'This is not the admin token, or the link was used before.' : errorWords(thrown).detail,
      );
    } finally {
      setBusy(false);
    }
  };

  return (
    <main className="mx-auto grid min-h-[80dvh] w-full max-w-md content-center gap-5 p-4">
      <Logo />
      <h1 className="text-2xl font-semibold">Sign in to administer</h1>
      {refused && (
        <Alert tone="warn" title="Your session has ended">
          Sign in again to go on.
        </Alert>
      )}
      {linkError !== null && (
        <Alert tone="warn" title="The sign-in link did not work">
          Each link works once, within a day. Restart the server for a fresh one, or use the admin token.
        </Alert>
      )}
      <form onSubmit={(event) => void submit(event)} className="grid gap-4" noValidate>
        <TextField
          label="Admin token"
          type="password"
          autoComplete="current-password"
          value={token}
          error={error}
          hint="The server prints where it is kept when it starts; ADMIN_TOKEN sets your own."
          onChange={(event) => setToken(event.target.value)}
        />
        <Button type="submit" tone="primary" busy={busy}>
          Sign in
        </Button>
      </form>
      <p className="text-sm text-muted">
        Here to donate compute?{' '}
        <a className="text-accent underline" href="/">
          Go to the donate page
        </a>
        .
      </p>
    </main>
  );
}
