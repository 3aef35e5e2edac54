/** What pages read, by query: kept fresh by pushes, and by asking again while there are none. */
import { useQuery, useQueryClient, type QueryClient } from '@tanstack/react-query';
import type { MetricPoint } from '@tabweave/shared';
import { ApiError } from './api-error.ts';
import * as calls from './calls.ts';
import { keys } from './keys.ts';
import { useLinkState } from './live/live-context.tsx';
import { mergePoints, refetchAfter } from './metrics/merge.ts';

const pollMilliseconds = 2500;

/** An answer of the server stands; only silence is worth another try. */
const retry = (failures: number, error: Error): boolean =>
  failures < 2 && error instanceof ApiError && error.status === 0;

function usePolling(): number | false {
  return useLinkState() === 'live' ? false : pollMilliseconds;
}

export const useOverview = () =>
  useQuery({
    queryKey: keys.overview,
    queryFn: ({ signal }) => calls.getOverview(signal),
    refetchInterval: 10_000,
    retry,
  });

export const useRuns = () =>
  useQuery({
    queryKey: keys.runs,
    queryFn: ({ signal }) => calls.listRuns(signal),
    refetchInterval: usePolling(),
    retry,
  });

export const useRun = (id: string) =>
  useQuery({
    queryKey: keys.run(id),
    queryFn: ({ signal }) => calls.getRun(id, signal),
    refetchInterval: usePolling(),
    retry,
  });

export const useWorkers = (id: string) =>
  useQuery({
    queryKey: keys.workers(id),
    queryFn: ({ signal }) => calls.listWorkers(id, signal),
    refetchInterval: usePolling(),
    retry,
  });

/** All metric points of a run; after the first time only what may have changed is fetched. */
export function useMetrics(id: string) {
  const cache = useQueryClient();
  return useQuery({
    queryKey: keys.metrics(id),
    queryFn: async ({ signal }) => {
      const after = refetchAfter(knownPoints(cache, id));
      const fetched = await calls.listMetrics(id, after, signal);
      // Read again: pushes came in meanwhile.
      return mergePoints(knownPoints(cache, id), fetched);
    },
    refetchInterval: usePolling(),
    // The comparison that keeps old objects would cost more than the drawing.
    structuralSharing: false,
    retry,
  });
}

function knownPoints(cache: QueryClient, id: string): MetricPoint[] {
  return cache.getQueryData<MetricPoint[]>(keys.metrics(id)) ?? [];
}

export const useDatasets = () =>
  useQuery({ queryKey: keys.datasets, queryFn: ({ signal }) => calls.listDatasets(signal), retry });

export const useModels = () =>
  useQuery({ queryKey: keys.models, queryFn: ({ signal }) => calls.listModels(signal), retry });
