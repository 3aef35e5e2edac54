/** What anyone may read: runs that are or were under way, without anything about workers. */
import { idSchema, metricsSchema, publicRunSchema } from '@tabweave/shared';
import { z } from 'zod';
import type { Api } from '../api.ts';
import type { Services } from '../services.ts';

const tag = ['public'];
const idParameters = z.object({ id: idSchema });
/** Points of a public chart: every volunteer asks for it every few seconds, so longer histories are thinned. */
const chartPoints = 400;

export function publicRoutes(api: Api, { runs }: Services): void {
  api.get(
    '/public/runs',
    {
      schema: {
        tags: tag,
        summary: 'Runs that volunteers can see',
        security: [],
        response: { 200: z.object({ runs: z.array(publicRunSchema) }) },
      },
    },
    () => ({ runs: runs.publicRuns() }),
  );

  api.get(
    '/public/runs/:id',
    {
      schema: {
        tags: tag,
        summary: 'One run',
        security: [],
        params: idParameters,
        response: { 200: publicRunSchema },
      },
    },
    (request) => runs.publicRun(request.params.id),
  );

  api.get(
    '/public/runs/:id/metrics',
    {
      schema: {
        tags: tag,
        summary: `Metric points for a chart, about ${chartPoints} and those with a validation loss`,
        security: [],
        params: idParameters,
        response: { 200: metricsSchema },
      },
    },
    async (request) => {
      const { id } = request.params;
      runs.publicRun(id);
      return { points: await runs.history.thinned(id, chartPoints, runs.get(id).recipe.evaluateEvery) };
    },
  );
}
