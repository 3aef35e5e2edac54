import type { Dataset } from '@tabweave/shared';

/** The first characters of the text. */
export function DatasetPreview({ dataset }: { dataset: Dataset }) {
  return (
    // A box that scrolls must be reachable by keyboard.
    <pre
      // eslint-disable-next-line jsx-a11y/no-noninteractive-tabindex
      tabIndex={0}
      role="group"
      aria-label={`Beginning of ${dataset.name}`}
      className="mt-3 max-h-32 overflow-auto rounded-lg bg-sunken p-3 font-mono text-sm whitespace-pre-wrap"
    >
      {dataset.preview}
    </pre>
  );
}
