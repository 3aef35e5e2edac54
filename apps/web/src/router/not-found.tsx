import { Link } from '@tanstack/react-router';
import { buttonStyle } from '../ui/form/button-style.ts';

export function NotFound() {
  return (
    <main className="mx-auto grid max-w-xl gap-3 p-8">
      <h1 className="text-2xl font-semibold">There is no page at this address</h1>
      <p className="text-muted">The link may be cut off, or the run may have been deleted.</p>
      <p>
        <Link to="/" className={buttonStyle()}>
          To the start page
        </Link>
      </p>
    </main>
  );
}
