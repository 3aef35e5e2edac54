import { useEffect } from 'react';
import type { Headline, Tone } from '../headline.ts';

const marks: Record<Tone, string> = { working: '●', waiting: '○', paused: '⏸', stopped: '■', trouble: '⚠' };

export function useTabTitle(title: string): void {
  useEffect(() => {
    document.title = title;
  }, [title]);
}

/** The tab itself says whether it works, also while another tab is in front. */
export function workingTitle({ tone, title }: Headline, run: string): string {
  return `${marks[tone]} ${title}: ${run}`;
}
