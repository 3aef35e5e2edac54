import { useEffect } from 'react';
import type { Headline, Tone } from '../headline.ts';

const marks: Record<Tone, string> = { working: '●', waiting: '○', paused: '⏸', stopped: '■', trouble: '⚠' };

/** The tab itself says whether it works, also while another tab is in front. */
export function useTabTitle({ tone, title }: Headline, run: string): void {
  useEffect(() => {
    document.title = `${marks[tone]} ${title}: ${run}`;
  }, [tone, title, run]);
}
