/** What is around the donate page: the name of the place, and the way to its other side. */
import { Link } from '@tanstack/react-router';
import type { ReactNode } from 'react';

export function Shell({ children }: { children: ReactNode }) {
  return (
    <div className="mx-auto flex min-h-dvh max-w-6xl flex-col px-4 sm:px-6">
      <header className="flex min-h-14 flex-wrap items-center justify-between gap-x-4">
        <Link to="/" className="flex min-h-8 items-center gap-2 font-semibold">
          <img src="/favicon.svg" alt="" className="size-6" />
          Tabweave
        </Link>
        <Link
          to="/admin"
          className="inline-flex min-h-8 items-center text-sm text-muted underline-offset-4 hover:underline"
        >
          Dashboard
        </Link>
      </header>
      <main className="grow py-4">{children}</main>
      <footer className="py-6 text-sm text-muted">
        Tabweave trains neural networks on the browser tabs people already have open.
      </footer>
    </div>
  );
}
