/** Tells a screen reader of a change, politely; give it a text that changes once per state, not per step. */
export function Announce({ children }: { children: string }) {
  return (
    <span role="status" className="sr-only">
      {children}
    </span>
  );
}
