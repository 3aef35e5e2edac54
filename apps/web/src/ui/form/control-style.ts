/** Look of a text input, a select or a text area. */
export const controlStyle =
  'block w-full min-h-10 rounded-lg border border-control bg-surface px-3 py-2 text-text ' +
  'aria-invalid:border-bad aria-invalid:outline-bad disabled:opacity-60';
