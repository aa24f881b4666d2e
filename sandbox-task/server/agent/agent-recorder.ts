/**
 * The recorder of one turn: numbers what a program says, and keeps it until the platform has taken it (RT1, RT2).
 *
 * Facts are never dropped: a program that is ahead of the platform by too much is not listened to. Pieces of text on their way are
 * dropped, since the whole text follows. Long texts are cut here, so that no program can fill the server's memory.
 */
import { cutTextsMiddle } from '#shared/domain/json.ts';
import {
  type RuntimeDelta,
  type RuntimeEvent,
  type RuntimeFact,
  runtimeArgumentsBytesMax,
  runtimeDeltasMax,
  runtimeFactBytesMax,
  runtimeFactsMax,
  runtimeFactsPerStepMax,
  runtimeTextBytesMax,
} from '#shared/domain/runtime.ts';
import { cutBytes } from '#shared/domain/text.ts';
import type { AgentListener } from './agent-program.ts';

type RecordedPage = {
  readonly events: readonly RuntimeEvent[];
  readonly deltas: readonly RuntimeDelta[];
};

export type AgentRecorder = AgentListener & {
  /** Facts after that number, at the latest after this time; those before are forgotten. */
  readonly take: (
    after: number,
    wait: { readonly ms: number; readonly signal: AbortSignal },
  ) => Promise<RecordedPage>;
  readonly hasEnded: () => boolean;
  /** Resolves with the end of the turn. */
  readonly ended: Promise<void>;
};

type Kept = RuntimeEvent & { readonly bytes: number };

/** The time for which pieces of text are gathered, in milliseconds. */
const deltaMs = 200;
const cutNotice = '\n[cut: the text was longer]';

export const createAgentRecorder = (): AgentRecorder => {
  let kept: readonly Kept[] = [];
  let deltas: RuntimeDelta[] = [];
  let last = 0;
  let isOver = false;
  const over = Promise.withResolvers<void>();
  const waiting = new Set<() => void>();
  const wake = (): void => {
    for (const resume of [...waiting]) resume();
  };
  const isFull = (): boolean =>
    kept.length >= runtimeFactsMax || kept.reduce((sum, { bytes }) => sum + bytes, 0) >= runtimeFactBytesMax;
  /** Until something changes, or the time is over. */
  const change = (ms: number, signal?: AbortSignal): Promise<void> =>
    new Promise((resolve) => {
      const resume = (): void => {
        clearTimeout(timer);
        waiting.delete(resume);
        signal?.removeEventListener('abort', resume);
        resolve();
      };
      const timer = setTimeout(resume, ms);
      waiting.add(resume);
      signal?.addEventListener('abort', resume, { once: true });
    });
  return {
    fact: (given) => {
      if (isOver) return;
      const fact = bounded(given);
      last += 1;
      kept = [...kept, { number: last, fact, bytes: JSON.stringify(fact).length }];
      if (fact.type === 'ended') {
        isOver = true;
        over.resolve();
      }
      wake();
    },
    delta: (delta) => {
      if (isOver || delta.text === '') return;
      if (deltas.length < runtimeDeltasMax)
        deltas.push({ ...delta, text: cutBytes(delta.text, runtimeTextBytesMax) });
      if (deltas.length === 1) wake();
    },
    room: async () => {
      while (isFull() && !isOver) await change(60_000);
    },
    take: async (after, { ms, signal }) => {
      kept = kept.filter(({ number }) => number > after);
      wake();
      const until = performance.now() + ms;
      while (kept.length === 0 && deltas.length === 0 && !signal.aborted) {
        const left = until - performance.now();
        if (left <= 0) break;
        await change(left, signal);
      }
      // Text that has just begun gathers; a fact is not held back for it.
      if (kept.length === 0 && deltas.length > 0 && !signal.aborted) await change(deltaMs, signal);
      const taken = deltas;
      deltas = [];
      return {
        events: kept.slice(0, runtimeFactsPerStepMax).map(({ number, fact }) => ({ number, fact })),
        deltas: taken,
      };
    },
    hasEnded: () => isOver,
    ended: over.promise,
  };
};

const bounded = (fact: RuntimeFact): RuntimeFact => {
  switch (fact.type) {
    case 'text':
    case 'reasoning':
    case 'output':
      return { ...fact, text: cut(fact.text) };
    case 'call':
    case 'asked':
      return { ...fact, args: cutTextsMiddle(fact.args, runtimeArgumentsBytesMax) };
    case 'fault':
      return { ...fact, message: cutBytes(fact.message, 1000) };
    case 'ended':
      return fact.message === undefined ? fact : { ...fact, message: cutBytes(fact.message, 1000) };
    default:
      return fact;
  }
};

const cut = (text: string): string => {
  const short = cutBytes(text, runtimeTextBytesMax);
  return short.length === text.length ? text : short + cutNotice;
};
