import { useEffect, useState } from 'react';

/** `value` once it has stayed the same for a while: a screen reader hears a state, not each flicker of it. */
export function useSettled(value: string, milliseconds: number): string {
  const [settled, setSettled] = useState(value);
  useEffect(() => {
    const timer = setTimeout(() => setSettled(value), milliseconds);
    return () => clearTimeout(timer);
  }, [value, milliseconds]);
  return settled;
}
