/** The HTTP side: hardening, schemas, OpenAPI, routes. */
import helmet from '@fastify/helmet';
import multipart from '@fastify/multipart';
import rateLimit from '@fastify/rate-limit';
import swagger from '@fastify/swagger';
import swaggerUi from '@fastify/swagger-ui';
import { ProblemError, limits } from '@tabweave/shared';
import Fastify, {
  type FastifyError,
  type FastifyInstance,
  type FastifyReply,
  type FastifyRequest,
  type FastifyServerOptions,
} from 'fastify';
import {
  jsonSchemaTransform,
  jsonSchemaTransformObject,
  serializerCompiler,
  validatorCompiler,
  type ZodTypeProvider,
} from 'fastify-type-provider-zod';
import { z } from 'zod';
import { bearerToken } from '../security/admin-auth.ts';
import type { Api } from './api.ts';
import { blobRoutes, servePages } from './files.ts';
import { installProblems, sendProblem } from './problems.ts';
import { administrationRoutes, sessionRoutes } from './routes/administration.ts';
import { datasetRoutes } from './routes/datasets.ts';
import { modelRoutes } from './routes/models.ts';
import { publicRoutes } from './routes/public.ts';
import { runRoutes } from './routes/runs.ts';
import type { Services } from './services.ts';

export interface HttpOptions {
  logger: FastifyServerOptions['logger'];
  /** Certificate and key for HTTPS; null for HTTP. */
  tls: { cert: string; key: string } | null;
  trustProxy: boolean;
}

/** The bare server, with its logger; services are built on it before routes are added. */
export function createHttp(options: HttpOptions): FastifyInstance {
  const common = {
    logger: options.logger,
    bodyLimit: limits.jsonBodyBytes,
    trustProxy: options.trustProxy,
    // Malformed addresses, which reach no route and no error handler.
    frameworkErrors: (error: FastifyError, _request: FastifyRequest, reply: FastifyReply): void => {
      const problem = new ProblemError('INVALID_INPUT', `The address is not valid: ${error.message}`);
      void sendProblem(reply, problem.toProblem());
    },
    forceCloseConnections: true,
    routerOptions: { maxParamLength: 100 },
  } as const;
  return options.tls
    ? (Fastify({ ...common, https: options.tls }) as unknown as FastifyInstance)
    : Fastify(common);
}

export async function addRoutes(app: FastifyInstance, services: Services, pages: string): Promise<void> {
  app.setValidatorCompiler(validatorCompiler);
  app.setSerializerCompiler(serializerCompiler);
  installProblems(app);
  await app.register(helmet, {
    contentSecurityPolicy: {
      useDefaults: false,
      directives: {
        defaultSrc: ["'self'"],
        // TensorFlow.js's WASM back end compiles WebAssembly.
        scriptSrc: ["'self'", "'wasm-unsafe-eval'"],
        workerSrc: ["'self'", 'blob:'],
        styleSrc: ["'self'", "'unsafe-inline'"],
        imgSrc: ["'self'", 'data:', 'blob:'],
        connectSrc: ["'self'", 'ws:', 'wss:'],
        objectSrc: ["'none'"],
        baseUri: ["'none'"],
        frameAncestors: ["'none'"],
        formAction: ["'self'"],
      },
    },
    // A self-signed certificate must not be pinned.
    strictTransportSecurity: false,
  });
  await app.register(rateLimit, { global: false });
  await app.register(multipart, {
    limits: { fileSize: limits.datasetBytes, files: 2, fields: 10, fieldSize: 10_000 },
  });
  await app.register(swagger, {
    openapi: {
      openapi: '3.1.0',
      info: {
        title: 'Tabweave',
        version: services.version,
        description: 'Train neural networks on browser tabs.',
      },
      components: { securitySchemes: { bearer: { type: 'http', scheme: 'bearer' } } },
      security: [{ bearer: [] }],
    },
    transform: jsonSchemaTransform,
    transformObject: jsonSchemaTransformObject,
  });
  await app.register(swaggerUi, { routePrefix: '/api/docs', staticCSP: true });

  app.withTypeProvider<ZodTypeProvider>().get(
    '/healthz',
    {
      schema: {
        tags: ['health'],
        summary: 'Whether the server works',
        security: [],
        response: {
          200: z.object({ status: z.literal('ok'), version: z.string(), workers: z.number().int() }),
        },
      },
    },
    () => ({ status: 'ok' as const, version: services.version, workers: services.runs.hub.size }),
  );
  blobRoutes(app, services);
  await app.register(
    async (scope) => {
      const api: Api = scope.withTypeProvider<ZodTypeProvider>();
      sessionRoutes(api, services);
      publicRoutes(api, services);
    },
    { prefix: '/api/v1' },
  );
  await app.register(
    async (scope) => {
      const api: Api = scope.withTypeProvider<ZodTypeProvider>();
      api.addHook('onRequest', async (request) => {
        if (await services.auth.accepts(bearerToken(request.headers.authorization))) return;
        throw new ProblemError('UNAUTHORIZED', 'Send the admin token as `Authorization: Bearer <token>`.');
      });
      datasetRoutes(api, services);
      modelRoutes(api, services);
      runRoutes(api, services);
      administrationRoutes(api, services);
    },
    { prefix: '/api/v1' },
  );
  await servePages(app, pages);
}
