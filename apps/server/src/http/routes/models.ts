import { idSchema, modelInputSchema, modelSchema } from '@tabweave/shared';
import { z } from 'zod';
import type { Api } from '../api.ts';
import type { Services } from '../services.ts';

const tag = ['models'];
const idParameters = z.object({ id: idSchema });

export function modelRoutes(api: Api, { models }: Services): void {
  api.get(
    '/models',
    {
      schema: {
        tags: tag,
        summary: 'List models',
        response: { 200: z.object({ models: z.array(modelSchema) }) },
      },
    },
    async () => ({ models: await models.list() }),
  );

  api.post(
    '/models',
    {
      // The config is checked by the service, whose refusals name model fields as the model's own problem.
      schema: {
        tags: tag,
        summary: 'Describe a model by its Hugging Face config.json',
        body: modelInputSchema.extend({ config: z.record(z.string(), z.unknown()) }),
        response: { 201: modelSchema },
      },
    },
    async (request, reply) => reply.status(201).send(await models.create(request.body)),
  );

  api.get(
    '/models/:id',
    { schema: { tags: tag, summary: 'One model', params: idParameters, response: { 200: modelSchema } } },
    (request) => models.get(request.params.id),
  );

  api.delete(
    '/models/:id',
    {
      schema: {
        tags: tag,
        summary: 'Delete an unused model',
        params: idParameters,
        response: { 204: z.null() },
      },
    },
    async (request, reply) => {
      await models.remove(request.params.id);
      return reply.status(204).send(null);
    },
  );
}
