/** The public data of the server, asked for again gently while the page is looked at. */
import { useQuery } from '@tanstack/react-query';
import { AnswerError, fetchMetrics, fetchRun, fetchRuns } from '../public-api.ts';

const pollMilliseconds = 5000;

const gently = {
  refetchInterval: pollMilliseconds,
  refetchIntervalInBackground: false,
  // What the server has answered does not change by asking at once again; a server that is away may come back.
  retry: (failures: number, error: Error) => !(error instanceof AnswerError) && failures < 2,
};

export function useRuns(enabled: boolean) {
  return useQuery({
    queryKey: ['public', 'runs'],
    queryFn: ({ signal }) => fetchRuns(signal),
    enabled,
    ...gently,
  });
}

export function useRun(id: string | null) {
  return useQuery({
    queryKey: ['public', 'run', id],
    queryFn: ({ signal }) => fetchRun(id ?? '', signal),
    enabled: id !== null,
    ...gently,
  });
}

export function useMetrics(id: string | null) {
  return useQuery({
    queryKey: ['public', 'metrics', id],
    queryFn: ({ signal }) => fetchMetrics(id ?? '', signal),
    enabled: id !== null,
    ...gently,
  });
}
