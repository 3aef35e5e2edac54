import { Spinner } from '../ui/feedback/spinner.tsx';

export function Pending() {
  return (
    <div className="grid min-h-40 place-items-center p-8">
      <Spinner label="Loading" />
    </div>
  );
}
