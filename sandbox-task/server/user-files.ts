/** File operations of the server: each is one request to the runner, and its answer is parsed. */
import type { FileEntry } from '../wire/messages.ts';
import { parseFileEntries } from './runner-message.ts';
import { expectAnswer, type UserSide } from './user-side.ts';

export type FileChunk = { readonly bytes: Buffer; readonly size: number; readonly modifiedAt: string };
export type ReadRange = { readonly offset: number; readonly bytesMax: number };
export type Written = { readonly isNew: boolean; readonly size: number };
export type Part = { readonly path: string; readonly start: number; readonly total: number };

export const readChunk = async (userSide: UserSide, path: string, range: ReadRange): Promise<FileChunk> => {
  const answer = await userSide.ask({ type: 'read', path, ...range });
  const { size, modifiedAt } = expectAnswer(answer, 'chunk');
  return { bytes: answer.payload, size, modifiedAt };
};

export const writeFile = async (userSide: UserSide, path: string, content: Buffer): Promise<Written> =>
  expectAnswer(await userSide.ask({ type: 'write', path }, content), 'written');

export const writePart = async (
  userSide: UserSide,
  part: Part,
  content: Buffer,
): Promise<Written | { readonly received: number }> => {
  const answer = await userSide.ask({ type: 'write-part', ...part }, content);
  if (answer.message.type === 'received') return { received: answer.message.bytes };
  return expectAnswer(answer, 'written');
};

export const removePath = async (userSide: UserSide, path: string): Promise<void> => {
  expectAnswer(await userSide.ask({ type: 'remove', path }), 'done');
};

export const listFolder = async (userSide: UserSide, path: string): Promise<readonly FileEntry[]> => {
  const answer = await userSide.ask({ type: 'list', path });
  expectAnswer(answer, 'listed');
  return parseFileEntries(answer.payload);
};
