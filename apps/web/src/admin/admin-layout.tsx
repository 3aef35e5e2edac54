import { Outlet } from '@tanstack/react-router';
import { LiveProvider } from '../api/live/live-context.tsx';
import { useSession } from '../api/session.ts';
import { AdminBar } from './session/admin-bar.tsx';
import { LinkNotice } from './session/link-notice.tsx';
import { SignIn } from './session/sign-in.tsx';
import { useLinkToken } from './session/use-link-token.ts';
import { Pending } from '../router/pending.tsx';

/** Everything under /admin: behind sign-in, with the bar on top. */
export default function AdminLayout() {
  const { session, refused } = useSession();
  const link = useLinkToken();
  if (link.exchanging) return <Pending />;
  if (session === null) return <SignIn refused={refused} linkError={link.error} />;
  return (
    <LiveProvider token={session.token}>
      <a
        href="#main"
        className="sr-only focus:not-sr-only focus:fixed focus:top-2 focus:left-2 focus:z-50 focus:rounded-lg focus:bg-surface focus:px-4 focus:py-2"
      >
        Skip to the content
      </a>
      <AdminBar />
      <main id="main" tabIndex={-1} className="mx-auto w-full max-w-[90rem] px-4 py-5 outline-none sm:px-6">
        <LinkNotice />
        <Outlet />
      </main>
    </LiveProvider>
  );
}
