import type { ReactNode } from 'react';
import { errorWords } from '../../api/api-error.ts';
import { Alert, Button, Spinner } from '../../ui/index.ts';

interface Query<T> {
  data: T | undefined;
  error: Error | null;
  refetch: () => unknown;
}

/** What a query holds; while it holds nothing, why. An error beside known data is shown above it. */
export function QueryState<T>({ query, children }: { query: Query<T>; children: (data: T) => ReactNode }) {
  const problem = query.error && (
    <Alert
      tone="bad"
      className="mb-4"
      title={errorWords(query.error).title}
      action={
        <Button size="small" onClick={() => void query.refetch()}>
          Try again
        </Button>
      }
    >
      {errorWords(query.error).detail}
    </Alert>
  );
  if (query.data === undefined) {
    return (
      problem ?? (
        <div className="grid min-h-40 place-items-center">
          <Spinner label="Loading" />
        </div>
      )
    );
  }
  return (
    <>
      {problem}
      {children(query.data)}
    </>
  );
}
