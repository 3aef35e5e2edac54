/** A run that is still being asked for, does not exist, or a server that cannot be reached. */
import { Link } from '@tanstack/react-router';
import { Alert, Button, Spinner } from '../../ui/index.ts';
import { AnswerError } from '../public-api.ts';

interface Properties {
  error: Error | null;
  onRetry: () => void;
}

export function RunNotThere({ error, onRetry }: Properties) {
  if (error === null) return <Spinner label="Asking the server…" />;
  if (!(error instanceof AnswerError)) return <Unreachable error={error} onRetry={onRetry} />;
  return (
    <>
      <h1 className="mb-4 text-2xl font-bold">This run cannot be shown</h1>
      <Alert tone="warn" title={error.status === 404 ? 'There is no such run' : 'The server refused'}>
        <p>
          {error.status === 404
            ? 'The link may be old, or the run was deleted or has not been started yet.'
            : error.message}
        </p>
        <p className="mt-2">
          <Link to="/" className="underline">
            See all runs that need help
          </Link>
        </p>
      </Alert>
    </>
  );
}

export function Unreachable({ error, onRetry }: { error: Error; onRetry: () => void }) {
  return (
    <Alert tone="warn" title="The server is away">
      <p>It did not answer. This page tries again every 5 seconds by itself.</p>
      {error instanceof AnswerError ? <p>{error.message}</p> : null}
      <Button className="mt-3" onClick={onRetry}>
        Try now
      </Button>
    </Alert>
  );
}
