/** The last words of a program that carries turns, which say why it ended. Characters that end in the next chunk are whole. */

import { StringDecoder } from 'node:string_decoder';
import { lastCharacters } from '#shared/domain/text.ts';

const charactersMax = 500;

export type LastWords = {
  readonly hear: (stream: string, chunk: Buffer) => void;
  readonly text: () => string;
};

export const createLastWords = (): LastWords => {
  const decoders = new Map<string, StringDecoder>();
  let said = '';
  return {
    hear: (stream, chunk) => {
      const decoder = decoders.get(stream) ?? new StringDecoder();
      decoders.set(stream, decoder);
      said = lastCharacters(said + decoder.write(chunk), charactersMax);
    },
    text: () => said.toWellFormed().trim(),
  };
};
