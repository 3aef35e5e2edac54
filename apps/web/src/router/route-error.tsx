import type { ErrorComponentProps } from '@tanstack/react-router';
import { buttonStyle } from '../ui/form/button-style.ts';

/** A page that failed to load or to draw; most often the server was updated and the old files are gone. */
export function RouteError({ error }: ErrorComponentProps) {
  return (
    <main className="mx-auto grid max-w-xl gap-3 p-8" role="alert">
      <h1 className="text-2xl font-semibold">This page failed</h1>
      <p className="text-muted">
        Reload it. If the server was updated meanwhile, reloading fetches the new pages.
      </p>
      <p>
        <button type="button" className={buttonStyle('primary')} onClick={() => location.reload()}>
          Reload
        </button>
      </p>
      <details className="text-sm text-muted">
        <summary>Details</summary>
        <pre className="mt-2 overflow-x-auto whitespace-pre-wrap">
          {error instanceof Error ? error.message : String(error)}
        </pre>
      </details>
    </main>
  );
}
