import { createWriteStream } from 'node:fs';
import { rm } from 'node:fs/promises';
import { join } from 'node:path';
import { pipeline } from 'node:stream/promises';
import type { MultipartFile } from '@fastify/multipart';
import {
  ProblemError,
  datasetFieldsSchema,
  datasetSchema,
  decodeInputSchema,
  encodeInputSchema,
  idSchema,
  limits,
  parseOrProblem,
} from '@tabweave/shared';
import type { FastifyRequest } from 'fastify';
import { z } from 'zod';
import { isDiskFull } from '../../storage/disk-full.ts';
import { newId } from '../../storage/ids.ts';
import type { Services } from '../services.ts';
import type { Api } from '../api.ts';

const tag = ['datasets'];
const idParameters = z.object({ id: idSchema });

export function datasetRoutes(api: Api, { datasets, temporaryFolder }: Services): void {
  api.get(
    '/datasets',
    {
      schema: {
        tags: tag,
        summary: 'List datasets',
        response: { 200: z.object({ datasets: z.array(datasetSchema) }) },
      },
    },
    async () => ({ datasets: await datasets.list() }),
  );

  api.post(
    '/datasets',
    {
      schema: {
        tags: tag,
        summary: 'Upload a text and tokenise it',
        description:
          'multipart/form-data: text fields `name`, `description`, `license`, `tokenizer` (character, byte or huggingface) and `validationFraction` come before the file field `file` (UTF-8 text); `tokenizerFile` is a Hugging Face tokenizer.json.',
        consumes: ['multipart/form-data'],
        response: { 201: datasetSchema },
      },
      bodyLimit: limits.datasetBytes + limits.tokenizerBytes,
    },
    async (request, reply) => {
      const files: string[] = [];
      try {
        const upload = await receive(request, temporaryFolder, files);
        const gone = new AbortController();
        request.raw.socket.once('close', () => gone.abort());
        const dataset = await datasets.create(upload, gone.signal);
        return await reply.status(201).send(dataset);
      } finally {
        await Promise.all(files.map((path) => rm(path, { force: true })));
      }
    },
  );

  api.get(
    '/datasets/:id',
    { schema: { tags: tag, summary: 'One dataset', params: idParameters, response: { 200: datasetSchema } } },
    (request) => datasets.get(request.params.id),
  );

  api.delete(
    '/datasets/:id',
    {
      schema: {
        tags: tag,
        summary: 'Delete an unused dataset',
        params: idParameters,
        response: { 204: z.null() },
      },
    },
    async (request, reply) => {
      await datasets.remove(request.params.id);
      return reply.status(204).send(null);
    },
  );

  api.post(
    '/datasets/:id/encode',
    {
      schema: {
        tags: tag,
        summary: 'Text to token ids',
        params: idParameters,
        body: encodeInputSchema,
        response: { 200: z.object({ ids: z.array(z.number()) }) },
      },
    },
    async (request) => ({ ids: await datasets.encode(request.params.id, request.body.text) }),
  );

  api.post(
    '/datasets/:id/decode',
    {
      schema: {
        tags: tag,
        summary: 'Token ids to text',
        params: idParameters,
        body: decodeInputSchema,
        response: { 200: z.object({ text: z.string() }) },
      },
    },
    async (request) => ({ text: await datasets.decode(request.params.id, request.body.ids) }),
  );
}

/** Streams the parts to temporary files, whose paths are added to `files` as they come into being. */
async function receive(
  request: FastifyRequest,
  folder: string,
  files: string[],
): Promise<Parameters<Services['datasets']['create']>[0]> {
  if (!request.isMultipart()) {
    throw new ProblemError(
      'INVALID_INPUT',
      'Send the dataset as multipart/form-data with the text as the file field "file".',
    );
  }
  const fields: Record<string, unknown> = {};
  let path: string | null = null;
  let tokenizerPath: string | null = null;
  let fileName = '';
  const save = async (part: MultipartFile): Promise<string> => {
    const target = join(folder, newId());
    files.push(target);
    try {
      await pipeline(part.file, createWriteStream(target));
    } catch (error) {
      if (isDiskFull(error)) throw error;
      throw new ProblemError(
        'INVALID_INPUT',
        `The file ${part.filename} did not arrive whole: ${(error as Error).message}.`,
      );
    }
    if (part.file.truncated) {
      throw new ProblemError(
        'TOO_LARGE',
        `The file ${part.filename} is over the limit of ${limits.datasetBytes / 2 ** 20} MiB.`,
      );
    }
    return target;
  };
  for await (const part of wholeParts(request)) {
    if (part.type === 'field') {
      if (part.fieldname in fields) {
        throw new ProblemError('INVALID_INPUT', `The field ${part.fieldname} is given twice.`);
      }
      if (part.valueTruncated)
        throw new ProblemError('TOO_LARGE', `The field ${part.fieldname} is too long.`);
      fields[part.fieldname] = part.value;
    } else if (part.fieldname === 'file' && path === null) {
      fileName = part.filename;
      path = await save(part);
    } else if (part.fieldname === 'tokenizerFile' && tokenizerPath === null) {
      tokenizerPath = await save(part);
    } else {
      part.file.resume();
      throw new ProblemError(
        'INVALID_INPUT',
        `The file field ${part.fieldname} is not known or given twice; use "file" and "tokenizerFile".`,
      );
    }
  }
  const { name, ...rest } = parseOrProblem(datasetFieldsSchema, fields, 'The dataset');
  if (path === null)
    throw new ProblemError('INVALID_INPUT', 'The file field "file" with the text is missing.');
  return {
    ...rest,
    name: name ?? (fileName.slice(0, limits.nameLength) || 'Untitled text'),
    path,
    tokenizerPath,
  };
}

/** The parts of the form; a form that is cut off or malformed is the sender's error. */
async function* wholeParts(request: FastifyRequest): ReturnType<FastifyRequest['parts']> {
  try {
    yield* request.parts();
  } catch (error) {
    const { statusCode, message } = error as { statusCode?: number; message: string };
    if (error instanceof ProblemError || statusCode !== undefined) throw error;
    throw new ProblemError('INVALID_INPUT', `The form data cannot be read: ${message}.`);
  }
}
