/**
 * Text to tokens: reads an uploaded file, runs its tokenizer, and stores the tokens as immutable shards of
 * little-endian unsigned integers (2 bytes where the vocabulary allows it). Blocking; runs in a thread.
 */
import { readFileSync } from 'node:fs';
import {
  ProblemError,
  byteTokenizerJson,
  characterTokenizerJson,
  characterVocabulary,
  type TokenizerKind,
} from '@tabweave/shared';
import { BlobStore } from '../storage/blobs.ts';
import { loadHuggingFaceTokenizer } from './text-tokenizer.ts';

export interface IngestRequest {
  path: string;
  tokenizer: TokenizerKind;
  /** Path of tokenizer.json for `huggingface`. */
  tokenizerPath: string | null;
  blobFolder: string;
}

export interface IngestResult {
  vocabularySize: number;
  bytes: number;
  tokens: number;
  tokenBytes: 2 | 4;
  shards: { hash: string; start: number; tokens: number }[];
  tokenizerHash: string;
  preview: string;
}

export const tokensPerShard = 1 << 20;
const previewCharacters = 500;
/** Text given to a library tokenizer at one time; pieces end at a line end where there is one. */
const pieceCharacters = 1 << 16;

export function ingest(request: IngestRequest): IngestResult {
  const raw = readFileSync(request.path);
  let text: string;
  try {
    text = new TextDecoder('utf-8', { fatal: true }).decode(raw);
  } catch {
    throw new ProblemError(
      'INVALID_DATASET',
      'The file is not UTF-8 text. Save it as plain text with UTF-8 encoding and upload it again.',
    );
  }
  if (text.includes('\0')) {
    throw new ProblemError('INVALID_DATASET', 'The file has NUL characters: it is binary data, not text.');
  }
  if (text.trim() === '') throw new ProblemError('INVALID_DATASET', 'The file holds no text.');
  const { ids, vocabularySize, json } = tokenise(request, text, raw);
  const blobs = new BlobStore(request.blobFolder);
  const tokenBytes = vocabularySize <= 65_536 ? 2 : 4;
  const shards: IngestResult['shards'] = [];
  for (let start = 0; start < ids.length; start += tokensPerShard) {
    const piece = ids.subarray(start, start + tokensPerShard);
    const packed = tokenBytes === 2 ? Uint16Array.from(piece) : piece;
    const hash = blobs.put(new Uint8Array(packed.buffer, packed.byteOffset, packed.byteLength));
    shards.push({ hash, start, tokens: piece.length });
  }
  return {
    vocabularySize,
    bytes: raw.byteLength,
    tokens: ids.length,
    tokenBytes,
    shards,
    tokenizerHash: blobs.put(Buffer.from(json)),
    preview: [...text.slice(0, 2 * previewCharacters)].slice(0, previewCharacters).join(''),
  };
}

function tokenise(
  request: IngestRequest,
  text: string,
  raw: Uint8Array,
): { ids: Uint32Array; vocabularySize: number; json: string } {
  switch (request.tokenizer) {
    case 'byte':
      return { ids: Uint32Array.from(raw), vocabularySize: 256, json: JSON.stringify(byteTokenizerJson()) };
    case 'character': {
      const vocabulary = characterVocabulary(text);
      const index = new Map(vocabulary.map((character, id) => [character, id]));
      const ids = new Uint32Array(text.length);
      let count = 0;
      for (const character of text) ids[count++] = index.get(character) as number;
      return {
        ids: ids.slice(0, count),
        vocabularySize: vocabulary.length,
        json: JSON.stringify(characterTokenizerJson(vocabulary)),
      };
    }
    case 'huggingface': {
      if (request.tokenizerPath === null) {
        throw new ProblemError(
          'INVALID_TOKENIZER',
          'Send the tokenizer.json as the file field tokenizerFile.',
        );
      }
      const json = readFileSync(request.tokenizerPath, 'utf8');
      const tokenizer = loadHuggingFaceTokenizer(json);
      const ids: number[] = [];
      for (const piece of pieces(text)) for (const id of tokenizer.encode(piece)) ids.push(id);
      if (ids.length === 0) {
        throw new ProblemError('INVALID_TOKENIZER', 'The tokenizer makes no tokens of this text.');
      }
      return { ids: Uint32Array.from(ids), vocabularySize: tokenizer.vocabularySize, json };
    }
  }
}

function* pieces(text: string): Generator<string> {
  let start = 0;
  while (start < text.length) {
    let end = Math.min(text.length, start + pieceCharacters);
    if (end < text.length) {
      const line = text.lastIndexOf('\n', end);
      if (line > start) end = line;
      else if (isHighSurrogate(text.charCodeAt(end - 1))) end++;
    }
    yield text.slice(start, end);
    start = end;
  }
}

function isHighSurrogate(unit: number): boolean {
  return unit >= 0xd800 && unit < 0xdc00;
}
