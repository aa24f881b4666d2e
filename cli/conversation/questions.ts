/**
 * Questions to a person in a chat: the next message, and the decision on a call.
 *
 * One reader holds the terminal for as long as the chat lives; Ctrl-C reaches it and not the process. Text that is typed while
 * nothing is asked, or just as a decision is, decides nothing: it is kept as the beginning of the next message.
 */
import { createInterface, type Interface } from 'node:readline';
import type { Host } from '../host.ts';
import { isAnswer, keyTyped, lineEnded, nothingTyped, type Typing } from './typed-line.ts';

export type Questions = {
  /** A message; the person finds in it what was typed before. Undefined: the input has ended, or it was withdrawn. */
  readonly askMessage: (question: string) => Promise<string | undefined>;
  /** A line that was begun after the question appeared, following a pause. */
  readonly askDecision: (question: string) => Promise<string | undefined>;
  /** Words that belong to a decision just made, such as its reason. */
  readonly askDetail: (question: string) => Promise<string | undefined>;
  /** A line that is no decision becomes a piece of the next message. */
  readonly keep: (line: string) => void;
  /** Text that was typed and not sent. */
  readonly kept: () => string;
  readonly withdraw: () => void;
  readonly isClosed: () => boolean;
  /** The terminal is another program's until `use` is over. */
  readonly lend: <T>(use: () => Promise<T>) => Promise<T>;
  readonly close: () => void;
};

const tooEarly =
  'That was typed before the question could be read, so it decides nothing; it is kept for your next message.\n';

/** A question that waits for its line. */
type Open = {
  readonly text: string;
  readonly kind: 'message' | 'decision' | 'detail';
  /** When it was seen; before that, nothing answers it. */
  readonly askedAt: number;
  readonly settle: (line: string | undefined) => void;
};

export const openQuestions = (host: Host, onInterrupt: () => void): Questions => {
  const { stdin, stderr, now } = host;
  const reader = createInterface({ input: stdin, output: stderr, terminal: true, historySize: 200 });
  const draft = makeDraft(reader);
  /** The last one is asked; those before it are asked again after it. */
  const questions: Open[] = [];
  let typing: Typing = nothingTyped;
  let isClosed = false;

  const show = (question: Open): void => {
    // Readline redraws one line: what stands above it is written once.
    const { text } = question;
    const end = text.lastIndexOf('\n') + 1;
    stderr.write((reader.line === '' ? '' : '\n') + text.slice(0, end), () => {
      if (questions.at(-1) !== question) return;
      reader.setPrompt(text.slice(end));
      draft.keepTyped();
      reader.prompt();
      if (question.kind === 'message') draft.restore();
      questions.splice(-1, 1, { ...question, askedAt: now() });
    });
  };
  const settle = (line: string | undefined): void => {
    questions.pop()?.settle(line);
    const before = questions.at(-1);
    // The answer may lead to another question.
    if (before !== undefined) setImmediate(() => questions.at(-1) === before && show(before));
  };
  const answers = ({ kind, askedAt }: Open, typed: Typing): boolean =>
    kind === 'decision' ? isAnswer(typed, { askedAt, at: now() }) : now() >= askedAt;
  const take = (line: string): void => {
    const typed = typing;
    typing = lineEnded(typing);
    const question = questions.at(-1);
    if (question !== undefined && answers(question, typed)) {
      settle(line);
      return;
    }
    draft.keep(line);
    if (question === undefined) return;
    if (line.trim() !== '') stderr.write(tooEarly);
    reader.prompt();
  };
  // Before the reader has taken the key: only then can be seen whether it begins a line.
  stdin.prependListener('keypress', () => {
    typing = keyTyped(typing, { at: now(), isFirst: reader.line === '' });
  });
  reader.on('SIGINT', onInterrupt);
  reader.on('line', take);
  reader.on('close', () => {
    isClosed = true;
    for (const question of questions.splice(0)) question.settle(undefined);
  });

  const ask = (kind: Open['kind']) => (text: string) =>
    new Promise<string | undefined>((resolve) => {
      if (isClosed) return resolve(undefined);
      const question = { text, kind, askedAt: Number.POSITIVE_INFINITY, settle: resolve };
      questions.push(question);
      show(question);
    });

  return {
    askMessage: ask('message'),
    askDecision: ask('decision'),
    askDetail: ask('detail'),
    keep: draft.keep,
    kept: draft.text,
    withdraw: () => {
      if (questions.length > 0) stderr.write('\n');
      settle(undefined);
    },
    isClosed: () => isClosed,
    lend: (use) => lend(reader, stdin, use),
    close: () => reader.close(),
  };
};

/** Text that was typed for a message before one was asked for. */
const makeDraft = (reader: Interface) => {
  let text = '';
  const joined = (piece: string): string => [text, piece.trim()].filter((part) => part !== '').join(' ');
  const keep = (piece: string): void => {
    text = joined(piece);
  };
  return {
    keep,
    text: () => joined(reader.line),
    /** The line that is being typed, which becomes empty. */
    keepTyped: () => {
      if (reader.line === '') return;
      keep(reader.line);
      reader.write(null, { ctrl: true, name: 'e' });
      reader.write(null, { ctrl: true, name: 'u' });
    },
    restore: () => {
      reader.write(text);
      text = '';
    },
  };
};

const lend = async <T>(reader: Interface, stdin: Host['stdin'], use: () => Promise<T>): Promise<T> => {
  reader.pause();
  stdin.setRawMode?.(false);
  try {
    return await use();
  } finally {
    stdin.setRawMode?.(true);
    reader.resume();
  }
};
