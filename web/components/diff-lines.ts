/** Lines of a unified diff as they are shown: each with its kind, and a hunk by the line at which it begins. */
import { visibleText } from '#shared/domain/visible-text.ts';

export type DiffLine = {
  readonly kind: 'added' | 'removed' | 'position' | 'same';
  readonly text: string;
};

const signs: Readonly<Record<string, DiffLine['kind']>> = { '+': 'added', '-': 'removed', '@': 'position' };
const hunk = /^@@ -(\d+)(?:,(\d+))? \+(\d+)/;

const lineOf = (line: string): DiffLine => {
  const [, before, count, after] = hunk.exec(line) ?? [];
  return after === undefined
    ? { kind: signs[line.slice(0, 1)] ?? 'same', text: visibleText(line) }
    : { kind: 'position', text: `line ${count === '0' ? after : before}` };
};

export const diffLines = (diff: string): readonly DiffLine[] =>
  diff
    .split('\n')
    .filter((line) => line !== '')
    .map(lineOf);
