/** A program on a pseudo terminal, as a person has it: what is typed reaches it through the kernel, what it shows comes back. */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { shellWord } from '../shell-word.ts';
import { eventually } from './embedded-cloud.ts';

const patienceMs = 60_000;
// biome-ignore lint/suspicious/noControlCharactersInRegex: how a line editor moves the cursor and clears a line
const movement = /\x1b\[\d*[A-Z]/g;
const lineEnd = /\r+\n/g;

export type PseudoTerminal = {
  readonly text: () => string;
  /** Until this is shown, after what an earlier `until` has found. */
  readonly until: (text: string) => Promise<void>;
  readonly type: (keys: string) => void;
  readonly ended: () => Promise<number | null>;
  /** As a window that a person closes: the program has no terminal any more. */
  readonly close: () => void;
};

type Options = { readonly env: Readonly<Record<string, string>>; readonly folder: string };

/** `script` of util-linux makes the terminal. */
export const openTerminal = (command: readonly string[], { env, folder }: Options): PseudoTerminal => {
  const child = spawn(
    'script',
    ['-qefc', `stty cols 100; exec ${command.map(shellWord).join(' ')}`, '/dev/null'],
    {
      env,
      cwd: folder,
    },
  );
  const exit = once(child, 'exit');
  let printed = '';
  let found = 0;
  child.stdout.setEncoding('utf8').on('data', (piece: string) => (printed += piece));
  // Made anew each time: pieces may part a movement, or the ends of a line, of which two terminals make several.
  const shown = (): string => printed.replaceAll(movement, '').replaceAll(lineEnd, '\n');
  return {
    text: shown,
    until: async (text) => {
      await eventually(
        async () => shown().slice(found),
        (fresh) => fresh.includes(text),
        patienceMs,
      );
      found = shown().indexOf(text, found) + text.length;
    },
    type: (keys) => void child.stdin.write(keys),
    ended: async () => {
      const [code] = await exit;
      return code;
    },
    close: () => void child.kill('SIGKILL'),
  };
};
