/**
 * Character and byte tokenizers. Both are also written as Hugging Face `tokenizer.json` (BPE without merges),
 * so that an exported model brings files that the field's libraries read. Any other tokenizer comes as such a
 * file and is run by a library on the server.
 */
import { z } from 'zod';

export const tokenizerKindSchema = z.enum(['character', 'byte', 'huggingface']);
export type TokenizerKind = z.infer<typeof tokenizerKindSchema>;

/** The sorted code points of a text: the vocabulary of its character tokenizer. */
export function characterVocabulary(text: string): string[] {
  return [...new Set(text)].sort((a, b) => (a.codePointAt(0) ?? 0) - (b.codePointAt(0) ?? 0));
}

export interface SimpleTokenizer {
  vocabularySize: number;
  /** Token ids; characters outside the vocabulary are left out. */
  encode(text: string): number[];
  decode(ids: readonly number[]): string;
}

export function characterTokenizer(vocabulary: readonly string[]): SimpleTokenizer {
  const ids = new Map(vocabulary.map((character, id) => [character, id]));
  return {
    vocabularySize: vocabulary.length,
    encode: (text) => {
      const out: number[] = [];
      for (const character of text) {
        const id = ids.get(character);
        if (id !== undefined) out.push(id);
      }
      return out;
    },
    decode: (tokens) => tokens.map((id) => vocabulary[id] ?? '').join(''),
  };
}

/** Vocabulary of the byte tokenizer in GPT-2's printable alphabet: index = byte (openai/gpt-2, encoder.py bytes_to_unicode). */
export function byteAlphabet(): string[] {
  const printable = (byte: number): boolean =>
    (byte >= 33 && byte <= 126) || (byte >= 161 && byte <= 172) || (byte >= 174 && byte <= 255);
  let extra = 0;
  return Array.from({ length: 256 }, (_, byte) =>
    String.fromCodePoint(printable(byte) ? byte : 256 + extra++),
  );
}

/** `tokenizer.json` of a character tokenizer. */
export function characterTokenizerJson(vocabulary: readonly string[]): object {
  return tokenizerJson(vocabulary, null, { type: 'Fuse' });
}

/** `tokenizer.json` of the byte tokenizer. */
export function byteTokenizerJson(): object {
  return tokenizerJson(
    byteAlphabet(),
    { type: 'ByteLevel', add_prefix_space: false, trim_offsets: false, use_regex: false },
    { type: 'ByteLevel', add_prefix_space: false, trim_offsets: false, use_regex: false },
  );
}

function tokenizerJson(vocabulary: readonly string[], preTokenizer: object | null, decoder: object): object {
  return {
    version: '1.0',
    truncation: null,
    padding: null,
    added_tokens: [],
    normalizer: null,
    pre_tokenizer: preTokenizer,
    post_processor: null,
    decoder,
    model: {
      type: 'BPE',
      dropout: null,
      unk_token: null,
      continuing_subword_prefix: null,
      end_of_word_suffix: null,
      fuse_unk: false,
      byte_fallback: false,
      vocab: Object.fromEntries(vocabulary.map((token, id) => [token, id])),
      merges: [],
    },
  };
}
