/**
 * The runner in which each context of code has its state: it dies with that one, and the next does not know. Only the latest
 * contexts are remembered.
 */
import {
  type CodeContext,
  contextKey,
  keysOf,
  type Language,
  rememberedContextsMax,
} from '../wire/program-messages.ts';
import type { RunnerProcess } from './runner-process.ts';

export const createStateMemory = () => {
  const runnerOf = new Map<string, RunnerProcess>();
  return {
    /** True when what the context knew was lost with a runner before this one. */
    record: (context: CodeContext, runner: RunnerProcess): boolean => {
      const key = contextKey(context);
      const before = runnerOf.get(key);
      runnerOf.delete(key);
      runnerOf.set(key, runner);
      const [oldest] = runnerOf.keys();
      if (runnerOf.size > rememberedContextsMax && oldest !== undefined) runnerOf.delete(oldest);
      return before !== undefined && before !== runner;
    },
    forget: (context: string, language: Language | null): boolean => {
      const keys = keysOf(context, language);
      return keys.map((key) => runnerOf.delete(key)).includes(true);
    },
  };
};
