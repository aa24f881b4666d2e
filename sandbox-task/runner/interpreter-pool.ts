/**
 * The pool of interpreters: one a context, started at its first use.
 *
 * A sandbox has at most eight. The one that was idle for the longest time is ended for another, and its next call
 * reports that its definitions are lost.
 */
import {
  type CodeContext,
  contextKey,
  contextsMax,
  keysOf,
  type Language,
  rememberedContextsMax,
} from '../wire/program-messages.ts';
import { type Interpreter, startInterpreter } from './interpreter.ts';
import type { SandboxPaths } from './user-process.ts';
import { FileRefusal } from './workspace-path.ts';

type Acquired = {
  readonly interpreter: Interpreter;
  /** The interpreter before it has ended, and the loss of its state is not yet reported. */
  readonly isSuccessor: boolean;
};
export type InterpreterPool = {
  readonly acquire: (context: CodeContext, mark: number) => Promise<Acquired>;
  readonly release: (context: CodeContext) => void;
  /** The loss of its state is reported. */
  readonly forgetLoss: (context: CodeContext) => void;
  readonly endContext: (context: string, language: Language | null) => Promise<number>;
};

export const createInterpreterPool = (paths: SandboxPaths): InterpreterPool => {
  // Maps and sets keep the order of insertion: the first is the longest idle.
  const living = new Map<string, Interpreter>();
  const lost = new Set<string>();
  const busy = new Set<string>();
  const lose = (key: string): void => {
    lost.add(key);
    const [oldest] = lost;
    if (lost.size > rememberedContextsMax && oldest !== undefined) lost.delete(oldest);
  };
  const start = (context: CodeContext, mark: number): Interpreter => {
    const key = contextKey(context);
    const interpreter = startInterpreter(context.language, paths, mark);
    living.set(key, interpreter);
    void interpreter.died.then(() => {
      if (living.get(key) !== interpreter) return;
      living.delete(key);
      if (interpreter.hasStarted()) lose(key);
    });
    return interpreter;
  };
  const evict = async (): Promise<void> => {
    const idle = [...living].find(([key]) => !busy.has(key));
    if (idle === undefined)
      throw new FileRefusal('resource_limit_exceeded', `${contextsMax} contexts run code already`);
    const [key, interpreter] = idle;
    living.delete(key);
    lose(key);
    await kill(interpreter);
  };
  /** Its processes are found by the mark. */
  const markLiving = async (key: string, mark: number): Promise<void> => {
    const current = living.get(key);
    if (current === undefined || (await current.changeMark(mark))) return;
    // Behind a lower mark it could not be found to be killed.
    await kill(current);
  };
  return {
    acquire: async (context, mark) => {
      const key = contextKey(context);
      if (busy.has(key)) throw new FileRefusal('conflict', `${key} runs other code`);
      busy.add(key);
      await markLiving(key, mark);
      while (!living.has(key) && living.size >= contextsMax) await evict();
      const interpreter = living.get(key) ?? start(context, mark);
      return { interpreter, isSuccessor: lost.delete(key) };
    },
    release: (context) => {
      const key = contextKey(context);
      busy.delete(key);
      const interpreter = living.get(key);
      if (interpreter === undefined) return;
      living.delete(key);
      living.set(key, interpreter);
    },
    forgetLoss: (context) => lost.delete(contextKey(context)),
    endContext: async (context, language) => {
      const keys = keysOf(context, language);
      const known = keys.filter((key) => lost.has(key) || living.has(key));
      const ended = keys.flatMap((key) => living.get(key) ?? []);
      for (const key of keys) {
        lost.delete(key);
        living.delete(key);
      }
      await Promise.all(ended.map(kill));
      return known.length;
    },
  };
};

const kill = async (interpreter: Interpreter): Promise<void> => {
  interpreter.signal('SIGKILL');
  await interpreter.died;
};
