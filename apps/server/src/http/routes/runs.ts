import {
  idSchema,
  metricsQuerySchema,
  metricsSchema,
  parametersRefSchema,
  runInputSchema,
  runSchema,
  workerSchema,
} from '@tabweave/shared';
import { z } from 'zod';
import { checkpointZip } from '../../checkpoint/checkpoint-zip.ts';
import { metricsCsv } from '../../runs/history.ts';
import type { Api } from '../api.ts';
import type { Services } from '../services.ts';

const tag = ['runs'];
const idParameters = z.object({ id: idSchema });

export function runRoutes(api: Api, { runs, datasets }: Services): void {
  api.get(
    '/runs',
    {
      schema: { tags: tag, summary: 'List runs', response: { 200: z.object({ runs: z.array(runSchema) }) } },
    },
    () => ({ runs: runs.list() }),
  );

  api.post(
    '/runs',
    {
      schema: {
        tags: tag,
        summary: 'Create a run; it is a draft until it is started',
        body: runInputSchema,
        response: { 201: runSchema },
      },
    },
    async (request, reply) => reply.status(201).send(await runs.create(request.body)),
  );

  api.get(
    '/runs/:id',
    { schema: { tags: tag, summary: 'One run', params: idParameters, response: { 200: runSchema } } },
    (request) => runs.get(request.params.id),
  );

  api.delete(
    '/runs/:id',
    {
      schema: {
        tags: tag,
        summary: 'Delete a run that is not under way, with its parameters',
        params: idParameters,
        response: { 204: z.null() },
      },
    },
    async (request, reply) => {
      await runs.remove(request.params.id);
      return reply.status(204).send(null);
    },
  );

  const actions = {
    start: 'Start a draft',
    pause: 'Pause: tasks under way may finish, no new ones are given out',
    resume: 'Go on after a pause or a failure',
    stop: 'Stop for good; the checkpoint stays',
  } as const;
  for (const action of Object.keys(actions) as (keyof typeof actions)[]) {
    api.post(
      `/runs/:id/${action}`,
      { schema: { tags: tag, summary: actions[action], params: idParameters, response: { 200: runSchema } } },
      (request) => runs[action](request.params.id),
    );
  }

  api.get(
    '/runs/:id/metrics',
    {
      schema: {
        tags: tag,
        summary: 'Metric points, oldest first, as JSON or CSV',
        params: idParameters,
        querystring: metricsQuerySchema,
        response: { 200: z.union([metricsSchema, z.string()]) },
      },
    },
    async (request, reply) => {
      const { after, limit, format } = request.query;
      runs.get(request.params.id);
      const points = await runs.history.points(request.params.id, after, limit);
      if (format === 'json') return { points };
      void reply
        .header('content-type', 'text/csv; charset=utf-8')
        .header('content-disposition', `attachment; filename="metrics-${request.params.id}.csv"`)
        .serializer((payload: unknown) => String(payload));
      return metricsCsv(points);
    },
  );

  api.get(
    '/runs/:id/workers',
    {
      schema: {
        tags: tag,
        summary: 'Connected workers of a run',
        params: idParameters,
        response: { 200: z.object({ workers: z.array(workerSchema) }) },
      },
    },
    (request) => {
      runs.get(request.params.id);
      return { workers: runs.workers(request.params.id) };
    },
  );

  api.get(
    '/runs/:id/parameters',
    {
      schema: {
        tags: tag,
        summary: 'Where the present parameters can be fetched',
        params: idParameters,
        response: { 200: parametersRefSchema },
      },
    },
    (request) => runs.parametersRef(request.params.id),
  );

  api.get(
    '/runs/:id/checkpoint',
    {
      schema: {
        tags: tag,
        summary: 'The model at its last committed version, as Hugging Face files',
        description: 'A zip with config.json, model.safetensors, tokenizer.json and tokenizer_config.json.',
        params: idParameters,
        produces: ['application/zip'],
      },
    },
    async (request, reply) => {
      const checkpoint = await runs.checkpoint(request.params.id);
      const tokenizerJson = await datasets.tokenizerJson(checkpoint.definition.dataset);
      return reply
        .header('content-type', 'application/zip')
        .header(
          'content-disposition',
          `attachment; filename="checkpoint-${request.params.id}-step-${checkpoint.version}.zip"`,
        )
        .send(checkpointZip({ ...checkpoint, tokenizerJson }));
    },
  );
}
