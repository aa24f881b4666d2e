/** The person at the terminal: what is said to them, and what they answer. Who answers nothing has not agreed. */
import { createInterface } from 'node:readline/promises';
import { Failure } from './failure.ts';

export type Conversation = {
  readonly say: (line?: string) => void;
  /** True when the answer is the one that was asked for. */
  readonly agrees: (question: string, answer: string) => Promise<boolean>;
};

export const openConversation = (
  input: NodeJS.ReadableStream & { readonly isTTY?: boolean },
  output: NodeJS.WritableStream,
): Conversation => ({
  say: (line = '') => void output.write(`${line}\n`),
  agrees: async (question, answer) => {
    if (input.isTTY !== true)
      throw new Failure('nobody is at the terminal to be asked', ['Say so in advance: add --yes.']);
    const terminal = createInterface({ input, output });
    try {
      return (await terminal.question(question)).trim() === answer;
    } finally {
      terminal.close();
    }
  },
});
