/**
 * What is asked of a person in a chat: the next message, and whether a call may run.
 *
 * One reader holds the terminal for as long as the chat lives; Ctrl-C reaches it and not the process.
 */
import { createInterface, type Interface } from 'node:readline';
import type { Host } from '../host.ts';

export type Questions = {
  /** The line; undefined at the end of the input or when the question was withdrawn. */
  readonly ask: (question: string) => Promise<string | undefined>;
  readonly withdraw: () => void;
  readonly close: () => void;
};

export const openQuestions = ({ stdin, stderr }: Host, onInterrupt: () => void): Questions => {
  const reader: Interface = createInterface({
    input: stdin,
    output: stderr,
    terminal: true,
    historySize: 200,
  });
  let isClosed = false;
  let settle: ((line: string | undefined) => void) | undefined;
  const answer = (line: string | undefined): void => {
    const waiting = settle;
    settle = undefined;
    waiting?.(line);
  };
  reader.on('SIGINT', onInterrupt);
  reader.on('line', answer);
  reader.on('close', () => {
    isClosed = true;
    answer(undefined);
  });
  return {
    ask: (question) =>
      new Promise((resolve) => {
        if (isClosed) return resolve(undefined);
        settle = resolve;
        // Readline redraws one line: what stands above it is written once.
        const end = question.lastIndexOf('\n') + 1;
        stderr.write(question.slice(0, end));
        reader.setPrompt(question.slice(end));
        reader.prompt();
      }),
    withdraw: () => {
      if (settle !== undefined) stderr.write('\n');
      answer(undefined);
    },
    close: () => reader.close(),
  };
};

export type Answer = 'yes' | 'no' | 'always' | 'unclear';

export const readAnswer = (line: string): Answer => {
  const word = line.trim().toLowerCase();
  if (word === 'y' || word === 'yes') return 'yes';
  if (word === 'n' || word === 'no') return 'no';
  return word === 'a' || word === 'always' ? 'always' : 'unclear';
};
