import { overviewSchema, sessionInputSchema, sessionSchema } from '@tabweave/shared';
import { z } from 'zod';
import { bearerToken } from '../../security/admin-auth.ts';
import type { Api } from '../api.ts';
import type { Services } from '../services.ts';

const tag = ['administration'];

/** The one route that needs no token, since it gives one. */
export function sessionRoutes(api: Api, { auth }: Services): void {
  api.post(
    '/session',
    {
      config: { rateLimit: { max: 20, timeWindow: '1 minute' } },
      schema: {
        tags: tag,
        summary: 'Exchange a one-time link token, or the admin token, for a session token',
        security: [],
        body: sessionInputSchema,
        response: { 200: sessionSchema },
      },
    },
    (request) => auth.openSession(request.body.token),
  );
}

export function administrationRoutes(api: Api, services: Services): void {
  api.delete(
    '/session',
    { schema: { tags: tag, summary: 'End this session', response: { 204: z.null() } } },
    async (request, reply) => {
      await services.auth.closeSession(bearerToken(request.headers.authorization));
      return reply.status(204).send(null);
    },
  );

  api.get(
    '/overview',
    { schema: { tags: tag, summary: 'The server at a glance', response: { 200: overviewSchema } } },
    () => {
      const donateUrls = services.donateUrls();
      return {
        runs: services.runs.list().length,
        workersConnected: services.runs.hub.size,
        donateUrls,
        secureDonateUrls: donateUrls.every(
          (url) => url.startsWith('https:') || /\/\/(localhost|127\.)/.test(url),
        ),
        version: services.version,
      };
    },
  );
}
