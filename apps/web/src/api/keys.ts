/** Names of what is cached. */
export const keys = {
  overview: ['overview'] as const,
  runs: ['runs'] as const,
  run: (id: string) => ['run', id] as const,
  metrics: (id: string) => ['metrics', id] as const,
  workers: (id: string) => ['workers', id] as const,
  datasets: ['datasets'] as const,
  models: ['models'] as const,
};
