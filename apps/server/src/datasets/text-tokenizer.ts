/** Tokenizers at run time; any Hugging Face `tokenizer.json` goes through the library that transformers.js is built on. */
import * as library from '@huggingface/tokenizers';
import { ProblemError, characterTokenizer, type TokenizerKind } from '@tabweave/shared';

/** As many tokens as a model may have. */
const largestVocabulary = 1_000_000;

export interface TextTokenizer {
  /** One more than the largest id. */
  vocabularySize: number;
  encode(text: string): number[];
  decode(ids: number[]): string;
}

/** The library's declarations do not resolve under Node's module rules; this is the part of them that is used. */
interface LibraryTokenizer {
  get_vocab(withAddedTokens: boolean): Map<string, number>;
  encode(text: string, options: { add_special_tokens: boolean }): { ids: number[] };
  decode(ids: number[], options: { skip_special_tokens: boolean }): string;
}
const { Tokenizer } = library as unknown as {
  Tokenizer: new (tokenizer: object, config: object) => LibraryTokenizer;
};

/** @throws ProblemError INVALID_TOKENIZER when the file is not a tokenizer that the library can run. */
export function loadHuggingFaceTokenizer(json: string): TextTokenizer {
  try {
    const tokenizer = new Tokenizer(JSON.parse(json) as object, {});
    let vocabularySize = 0;
    for (const [token, id] of tokenizer.get_vocab(true)) {
      if (!Number.isInteger(id) || id < 0 || id >= largestVocabulary) {
        throw new Error(
          `the id of "${token}" is ${String(id)}, not a number from 0 to ${largestVocabulary - 1}`,
        );
      }
      vocabularySize = Math.max(vocabularySize, id + 1);
    }
    if (vocabularySize === 0) throw new Error('its vocabulary is empty');
    return {
      vocabularySize,
      encode: (text) => {
        const { ids } = tokenizer.encode(text, { add_special_tokens: false });
        // A word that is not in the vocabulary, where there is no token for the unknown, comes out as no id at all.
        if (ids.every((id) => Number.isInteger(id) && id >= 0 && id < vocabularySize)) return ids;
        throw new ProblemError(
          'INVALID_TOKENIZER',
          'The tokenizer has no token for a part of the text, nor one for what is unknown.',
        );
      },
      decode: (ids) => tokenizer.decode(ids, { skip_special_tokens: false }),
    };
  } catch (error) {
    throw new ProblemError(
      'INVALID_TOKENIZER',
      `The file is not a usable Hugging Face tokenizer.json: ${(error as Error).message}`,
    );
  }
}

/** The tokenizer of a stored dataset, from the tokenizer.json that was written with it. */
export function storedTokenizer(kind: TokenizerKind, json: string): TextTokenizer {
  switch (kind) {
    case 'huggingface':
      return loadHuggingFaceTokenizer(json);
    case 'byte':
      return {
        vocabularySize: 256,
        encode: (text) => [...new TextEncoder().encode(text)],
        decode: (ids) => new TextDecoder().decode(Uint8Array.from(ids)),
      };
    case 'character': {
      const { vocab } = (JSON.parse(json) as { model: { vocab: Record<string, number> } }).model;
      const vocabulary: string[] = [];
      for (const [character, id] of Object.entries(vocab)) vocabulary[id] = character;
      return characterTokenizer(vocabulary);
    }
  }
}
