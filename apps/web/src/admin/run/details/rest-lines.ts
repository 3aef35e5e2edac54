/** The same as the buttons do, for a shell. */
export interface RestLine {
  what: string;
  command: string;
}

/** @param origin of the server. TOKEN in the lines is a shell variable: the admin token or a session's. */
export function restLines(origin: string, runId: string): RestLine[] {
  const curl = (rest: string): string => `curl -H "Authorization: Bearer $TOKEN" ${rest}`;
  const run = `${origin}/api/v1/runs/${runId}`;
  return [
    { what: 'State of this run', command: curl(run) },
    { what: 'Pause it', command: curl(`-X POST ${run}/pause`) },
    { what: 'Resume it', command: curl(`-X POST ${run}/resume`) },
    { what: 'Metrics as CSV', command: curl(`-o metrics.csv "${run}/metrics?format=csv&limit=100000"`) },
    { what: 'Checkpoint', command: curl(`-o checkpoint.zip ${run}/checkpoint`) },
  ];
}
