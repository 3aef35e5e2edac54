/** Immutable files by hash (data shards, parameters), and the built pages. */
import { createReadStream, existsSync, statSync } from 'node:fs';
import { join } from 'node:path';
import fastifyStatic from '@fastify/static';
import type { FastifyInstance, FastifyReply } from 'fastify';
import { blobHashPattern } from '../storage/blobs.ts';
import { sendNotFound } from './problems.ts';
import type { Services } from './services.ts';

function sendImmutable(reply: FastifyReply, path: string): FastifyReply {
  return reply
    .header('cache-control', 'public, max-age=31536000, immutable')
    .header('content-type', 'application/octet-stream')
    .header('content-length', statSync(path).size)
    .send(createReadStream(path));
}

export function blobRoutes(app: FastifyInstance, { blobs, runs }: Services): void {
  app.get<{ Params: { hash: string } }>('/blobs/:hash', (request, reply) => {
    const { hash } = request.params;
    if (!blobHashPattern.test(hash) || !existsSync(blobs.path(hash))) return sendNotFound(reply, request.url);
    return sendImmutable(reply, blobs.path(hash));
  });

  app.get<{ Params: { id: string; hash: string } }>('/parameters/:id/:hash', (request, reply) => {
    const path = runs.parameterFile(request.params.id, request.params.hash);
    return path === null ? sendNotFound(reply, request.url) : sendImmutable(reply, path);
  });
}

/** Serves the single-page app: its files, and its index for every other page address. */
export async function servePages(app: FastifyInstance, folder: string): Promise<void> {
  const built = existsSync(join(folder, 'index.html'));
  if (built) {
    await app.register(fastifyStatic, {
      root: folder,
      index: false,
      setHeaders: (reply, path) => {
        const hashed = path.includes(`${folder}/assets/`);
        void reply.header('cache-control', hashed ? 'public, max-age=31536000, immutable' : 'no-cache');
      },
    });
  }
  if (built) {
    app.get('/', { schema: { hide: true } }, (_request, reply) =>
      reply.header('cache-control', 'no-cache').sendFile('index.html'),
    );
  }
  app.setNotFoundHandler((request, reply) => {
    const path = request.url.split('?')[0] ?? '';
    const page = request.method === 'GET' && !/^\/(api|blobs|parameters|assets|socket\.io)(\/|$)/.test(path);
    if (page && built) return reply.header('cache-control', 'no-cache').sendFile('index.html');
    if (page) {
      return reply
        .status(503)
        .type('text/plain')
        .send('The pages are not built yet. Run `npm start`, which builds them, or `npm run build`.');
    }
    return sendNotFound(reply, path);
  });
}
