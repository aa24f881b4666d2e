/**
 * Questions to a person at a terminal: the next message, and the decision on a call.
 *
 * One reader holds the terminal during the chat, and Ctrl-C reaches it instead of the process. Text that is typed before a
 * question, or just as a decision is requested, decides nothing: it becomes the beginning of the next message.
 */
import { createInterface, type Interface } from 'node:readline';
import type { Host } from './host.ts';

export type Questions = {
  /** Asks for a message, which begins with the text typed before; undefined after the end of the input or a withdrawal. */
  readonly askMessage: (question: string) => Promise<string | undefined>;
  /** Asks for a line that is begun after the question and a pause. */
  readonly askDecision: (question: string) => Promise<string | undefined>;
  /** Asks for a detail of a decision just made, such as its reason. */
  readonly askDetail: (question: string) => Promise<string | undefined>;
  /** Adds a line to the next message. */
  readonly keep: (line: string) => void;
  /** The text that was typed and not sent. */
  readonly kept: () => string;
  readonly withdraw: () => void;
  readonly isClosed: () => boolean;
  /** Gives the terminal to another program until `use` has ended. */
  readonly lend: <T>(use: () => Promise<T>) => Promise<T>;
  readonly close: () => void;
};

const tooEarly =
  'You typed this before the question appeared. It was not used as an answer; it begins your next message.\n';

/** A question that waits for its line. */
type Open = {
  readonly text: string;
  readonly kind: 'message' | 'decision' | 'detail';
  /** The time at which it was shown; no earlier line answers it. */
  readonly askedAt: number;
  readonly settle: (line: string | undefined) => void;
};

export const openQuestions = (host: Host, onInterrupt: () => void): Questions => {
  const { stdin, stderr, now } = host;
  const reader = createInterface({ input: stdin, output: stderr, terminal: true, historySize: 200 });
  const draft = makeDraft(reader);
  /** The last one is shown; the ones before it are shown again after it. */
  const questions: Open[] = [];
  let typing: Typing = nothingTyped;
  let isClosed = false;

  const show = (question: Open): void => {
    // Readline redraws one line; the lines above it are written once.
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
  // Runs before the reader takes the key, while an empty line is still empty.
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

/** Text that was typed before the program asked for a message. */
const makeDraft = (reader: Interface) => {
  let text = '';
  const joined = (piece: string): string => [text, piece.trim()].filter((part) => part !== '').join(' ');
  const keep = (piece: string): void => {
    text = joined(piece);
  };
  return {
    keep,
    text: () => joined(reader.line),
    /** Takes the unfinished line, which becomes empty. */
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

/**
 * The typing of a line, to distinguish an answer to a question from a line that was begun before it.
 *
 * An answer begins after the question and after a pause, because a person in the middle of a sentence continues to type,
 * and the rest of that sentence may be any word. It also ends late enough for the question to have been read.
 */
export type Typing = {
  /** Epoch of any clock that only grows, in milliseconds. */
  readonly lastKeyAt?: number;
  /** The pause before the first key of this line; absent: no line is begun, or nothing came before. */
  readonly pauseMs?: number;
};

/** Enough time to notice a question. */
const answerPauseMs = 1000;

export const nothingTyped: Typing = {};

/** Records a key; `isFirst`: the line was empty before it. */
export const keyTyped = (
  { lastKeyAt, pauseMs }: Typing,
  { at, isFirst }: { readonly at: number; readonly isFirst: boolean },
): Typing => {
  const pause = isFirst ? at - (lastKeyAt ?? Number.NEGATIVE_INFINITY) : pauseMs;
  return { lastKeyAt: at, ...(pause === undefined ? {} : { pauseMs: pause }) };
};

const lineEnded = ({ lastKeyAt }: Typing): Typing => (lastKeyAt === undefined ? {} : { lastKeyAt });

/** True if a line that ends now answers the question that has been there since `askedAt`. */
export const isAnswer = (
  { pauseMs }: Typing,
  { askedAt, at }: { readonly askedAt: number; readonly at: number },
): boolean => pauseMs !== undefined && pauseMs >= answerPauseMs && at - askedAt >= answerPauseMs;
