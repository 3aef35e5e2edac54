import { Link } from '@tanstack/react-router';
import { LogOut } from 'lucide-react';
import { closeSession } from '../../api/calls.ts';
import { endSession } from '../../api/session.ts';
import { IconButton } from '../../ui/index.ts';
import { Logo } from '../parts/logo.tsx';

const pages = [
  { to: '/admin', label: 'Runs', exact: true },
  { to: '/admin/datasets', label: 'Datasets', exact: false },
  { to: '/admin/models', label: 'Models', exact: false },
] as const;

const linkStyle =
  'inline-flex min-h-8 items-center rounded-lg px-2 text-muted hover:bg-sunken hover:text-text sm:px-3 ' +
  'aria-[current=page]:bg-accent-soft aria-[current=page]:font-medium aria-[current=page]:text-accent';

export function AdminBar() {
  const signOut = (): void => {
    // The session ends here in any case; the server forgets it when it can be reached.
    closeSession().catch(() => undefined);
    endSession(false);
  };
  return (
    <header className="top-0 z-30 sm:sticky border-b border-line bg-surface">
      <div className="mx-auto flex min-h-13 max-w-[90rem] flex-wrap items-center gap-x-2 px-3 sm:gap-x-4 sm:px-6">
        <Link to="/admin" className="flex h-11 shrink-0 items-center" aria-label="Tabweave, all runs">
          <Logo />
        </Link>
        <nav
          aria-label="Administration"
          className="flex min-w-0 flex-1 items-center gap-1 max-sm:order-last max-sm:basis-full max-sm:pb-1.5"
        >
          {pages.map(({ to, label, exact }) => (
            <Link key={to} to={to} activeOptions={{ exact }} className={linkStyle}>
              {label}
            </Link>
          ))}
        </nav>
        <a href="/api/docs" className={`${linkStyle} max-sm:ml-auto`}>
          API
        </a>
        <IconButton icon={LogOut} label="Sign out" onClick={signOut} />
      </div>
    </header>
  );
}
