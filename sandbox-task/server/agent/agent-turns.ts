/**
 * The turns that programs of this sandbox carry, each by its id: handed over once, however often it is repeated (RT2), and one at a time in a
 * conversation.
 *
 * A turn that the platform has left is stopped before the next one of its conversation begins (RT5).
 */

import type { RuntimePrompt, RuntimeReply } from '#shared/domain/runtime.ts';
import type { AgentRuntime } from '#shared/domain/runtime-name.ts';
import { Refusal } from '../refusal.ts';
import type { AgentProgram, AgentTurn } from './agent-program.ts';
import { type AgentRecorder, createAgentRecorder } from './agent-recorder.ts';

type Entry = {
  readonly conversation: string;
  readonly recorder: AgentRecorder;
  /** Undefined: the program could not take it. */
  readonly turn: Promise<AgentTurn | undefined>;
  /** Stopped once: a second request to the program could meet the next turn. */
  stopping?: Promise<void>;
};

export type AgentTurns = {
  readonly put: (id: string, prompt: RuntimePrompt) => void;
  readonly recorderOf: (id: string) => AgentRecorder;
  readonly reply: (id: string, replies: readonly RuntimeReply[]) => Promise<void>;
  readonly abort: (id: string) => Promise<void>;
  /** True while a program works. */
  readonly isBusy: () => boolean;
};

/** Ended turns that are remembered, so that a late repeat starts none again. */
const rememberedMax = 50;
/** Of a turn that is stopped for the next one, in milliseconds. */
const stopMsMax = 10_000;

export const createAgentTurns = (programs: Readonly<Record<AgentRuntime, AgentProgram>>): AgentTurns => {
  const entries = new Map<string, Entry>();
  const find = (id: string): Entry => {
    const entry = entries.get(id);
    if (entry === undefined) throw new Refusal('not_found', 'there is no such turn');
    return entry;
  };
  const forgetOld = (): void => {
    const ended = [...entries].filter(([, { recorder }]) => recorder.hasEnded());
    for (const [id] of ended.slice(0, Math.max(0, entries.size - rememberedMax))) entries.delete(id);
  };
  const begin = async (
    { runtime, ...prompt }: RuntimePrompt,
    recorder: AgentRecorder,
    before: readonly Entry[],
  ): Promise<AgentTurn | undefined> => {
    try {
      await Promise.all(before.map(stop));
      return await programs[runtime].prompt({ runtime, ...prompt }, recorder);
    } catch (cause) {
      const message = cause instanceof Error ? cause.message : String(cause);
      recorder.fact({ type: 'ended', reason: 'failed', message });
      return undefined;
    }
  };
  return {
    put: (id, prompt) => {
      if (entries.has(id)) return;
      const { conversation } = prompt;
      const before = [...entries.values()].filter(
        (entry) => entry.conversation === conversation && !entry.recorder.hasEnded(),
      );
      const recorder = createAgentRecorder();
      entries.set(id, { conversation, recorder, turn: begin(prompt, recorder, before) });
      forgetOld();
    },
    recorderOf: (id) => find(id).recorder,
    reply: async (id, replies) => {
      const turn = await find(id).turn;
      for (const reply of replies) await turn?.reply(reply);
    },
    abort: async (id) => stop(find(id)),
    isBusy: () => [...entries.values()].some(({ recorder }) => !recorder.hasEnded()),
  };
};

const stop = async (entry: Entry): Promise<void> => {
  if (entry.recorder.hasEnded()) return;
  entry.stopping ??= stopOnce(entry);
  await entry.stopping;
};

const stopOnce = async ({ recorder, turn }: Entry): Promise<void> => {
  await (await turn)?.abort();
  const late = setTimeout(
    () => recorder.fact({ type: 'ended', reason: 'aborted', message: 'it did not stop in time' }),
    stopMsMax,
  );
  await recorder.ended;
  clearTimeout(late);
};
