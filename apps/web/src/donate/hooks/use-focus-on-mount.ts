import { useEffect, useRef, type RefObject } from 'react';

/** For an element that takes the place of the control that was just used: the focus goes there, not nowhere. */
export function useFocusOnMount<E extends HTMLElement>(): RefObject<E | null> {
  const target = useRef<E>(null);
  useEffect(() => target.current?.focus({ preventScroll: true }), []);
  return target;
}
