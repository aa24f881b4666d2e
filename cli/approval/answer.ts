/**
 * A person's answer about a call. Only a whole line that is one of the words decides: a sentence that begins
 * with "no" or "yes" is a message, not an answer. Pure.
 */
export type Answer = 'approve' | 'reject' | 'always' | 'prefix' | 'edit' | 'later';

const words: Readonly<Record<string, Answer>> = {
  approve: 'approve',
  yes: 'approve',
  y: 'approve',
  reject: 'reject',
  no: 'reject',
  n: 'reject',
  always: 'always',
  a: 'always',
  prefix: 'prefix',
  p: 'prefix',
  edit: 'edit',
  e: 'edit',
  later: 'later',
  l: 'later',
};

export const readAnswer = (line: string): Answer | undefined => {
  const word = line.trim().toLowerCase();
  return Object.hasOwn(words, word) ? words[word] : undefined;
};
