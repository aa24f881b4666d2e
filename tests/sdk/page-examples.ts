/** The examples of a page: each program with what it prints, and the last column of its table. */
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';

const docs = join(import.meta.dirname, '..', '..', 'docs');

export type Example = { readonly program: string; readonly printed: string };

export const readExamples = async (page: string): Promise<readonly Example[]> => {
  const text = await readFile(join(docs, page), 'utf8');
  return [...text.matchAll(/```ts\n([\s\S]*?)```\n\n```text\n([\s\S]*?)```/g)].map(
    ([, program = '', printed = '']) => ({ program, printed }),
  );
};

/** Rows of the table whose first column is a task. */
export const readTableLines = async (page: string): Promise<readonly string[]> => {
  const text = await readFile(join(docs, page), 'utf8');
  const [, rows = ''] = /\| task \|[^\n]*\n\|[-|]*\n([\s\S]*?)\n\n/.exec(text) ?? [];
  return rows.split('\n').map((row) => /`([^`]+)` \|$/.exec(row)?.[1] ?? '');
};
