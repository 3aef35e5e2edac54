import { Tokenizer } from '@huggingface/tokenizers';
import { describe, expect, it } from 'vitest';
import {
  byteAlphabet,
  byteTokenizerJson,
  characterTokenizer,
  characterTokenizerJson,
  characterVocabulary,
} from './tokenizer.ts';

const text = 'Ünïcode, tabs\tand\r\nlines — “quotes” 🦊 and   spaces.\n';

describe('the character tokenizer', () => {
  const vocabulary = characterVocabulary(text);
  const ours = characterTokenizer(vocabulary);

  it('comes back to the same text, one id for each code point', () => {
    const ids = ours.encode(text);
    expect(ids).toHaveLength([...text].length);
    expect(ours.decode(ids)).toBe(text);
  });

  it('is the same as its tokenizer.json in the Hugging Face library', () => {
    const library = new Tokenizer(characterTokenizerJson(vocabulary), {});
    expect(library.encode(text, { add_special_tokens: false }).ids).toEqual(ours.encode(text));
    expect(library.decode(ours.encode(text))).toBe(text);
  });
});

describe('the byte tokenizer', () => {
  it('has 256 distinct printable symbols', () => {
    expect(new Set(byteAlphabet()).size).toBe(256);
  });

  it('gives the bytes of the text as ids, through its tokenizer.json too', () => {
    const library = new Tokenizer(byteTokenizerJson(), {});
    const bytes = [...new TextEncoder().encode(text)];
    expect(library.encode(text, { add_special_tokens: false }).ids).toEqual(bytes);
    expect(library.decode(bytes)).toBe(text);
  });
});
