/**
 * Facts, prompts and replies of a program of the sandbox that carries turns: numbered, and the same for every kind of program.
 * Invariants RT1 to RT7: docs/spec/runtimes.md.
 *
 * All that such a program says is untrusted: it comes from user code. Nothing here refers to one of them in particular.
 */
import type { JsonObject } from './json.ts';
import type { ProviderName, TokenUsage } from './model.ts';
import type { AgentRuntime } from './runtime-name.ts';
import type { ApprovalMode } from './session.ts';

/** `agent`: the name of the sub-agent that it is about; absent: the agent of the session. */
type About = { readonly agent?: string };

export type RuntimeFact =
  /** A whole piece of text of the agent itself. */
  | { readonly type: 'text'; readonly messageId: string; readonly text: string }
  | { readonly type: 'reasoning'; readonly messageId: string; readonly text: string }
  | (About & {
      readonly type: 'call';
      readonly callId: string;
      readonly name: string;
      readonly args: JsonObject;
    })
  | (About & {
      readonly type: 'output';
      readonly callId: string;
      readonly name: string;
      readonly text: string;
      readonly isError: boolean;
      readonly durationMs: number;
    })
  /** One call of a model, with what the agent says of its cost in tokens. */
  | (About & { readonly type: 'step'; readonly model?: string; readonly usage: TokenUsage })
  /** It waits until the platform answers. */
  | (About & {
      readonly type: 'asked';
      /** The answer names it. */
      readonly permission: string;
      /** The call that it is about, which was said before; absent: it is about none. */
      readonly callId?: string;
      readonly name: string;
      readonly args: JsonObject;
    })
  | { readonly type: 'file'; readonly path: string }
  | { readonly type: 'sub-agent'; readonly agent: string }
  /** A fault that does not end the turn. */
  | { readonly type: 'fault'; readonly message: string }
  /** The last fact of a turn. `lost`: the program ended by itself. */
  | {
      readonly type: 'ended';
      readonly reason: 'finished' | 'aborted' | 'failed' | 'lost';
      readonly message?: string;
    };

/** A piece of text on its way; not numbered, and never the only place of the text. `offset` counts UTF-16 units. */
export type RuntimeDelta = {
  readonly kind: 'text' | 'reasoning';
  readonly messageId: string;
  readonly offset: number;
  readonly text: string;
};

/** Facts of one turn are numbered from 1 without gaps. */
export type RuntimeEvent = { readonly number: number; readonly fact: RuntimeFact };

export type RuntimeReply = {
  readonly permission: string;
  readonly approved: boolean;
  /** Of a rejection. */
  readonly reason?: string;
};

/** The program is told this once a turn; `model` and `address` are of the broker inside the sandbox. */
export type RuntimePrompt = {
  readonly runtime: AgentRuntime;
  /** The program goes on with its conversation of this name, and begins one where it has none. */
  readonly conversation: string;
  readonly text: string;
  readonly instructions?: string;
  readonly provider: ProviderName;
  readonly model: string;
  readonly asks: RuntimeAsks;
};

/** The program asks about these: nothing, all but reading, all but reading and editing, or everything. */
export const runtimeAsks = ['nothing', 'commands', 'changes', 'everything'] as const;
export type RuntimeAsks = (typeof runtimeAsks)[number];

/** A person is not asked what the mode allows; the platform judges each question again. */
export const asksOf = (mode: ApprovalMode): RuntimeAsks => {
  switch (mode) {
    case 'auto':
      return 'nothing';
    case 'medium':
      return 'commands';
    case 'low':
      return 'changes';
    case 'high':
    case 'ask':
    case 'effect':
      return 'everything';
  }
};

/** Facts that wait to be taken; beyond, the program is not listened to until some were. */
export const runtimeFactsMax = 1000;
export const runtimeFactBytesMax = 4 * 1_048_576;
/** One text of a fact, in UTF-8 bytes: the rest is left out, and said. */
export const runtimeTextBytesMax = 200_000;
/** Arguments of one call, as JSON; more are cut in their texts. */
export const runtimeArgumentsBytesMax = 100_000;
export const runtimeDeltasMax = 500;
/** One question for events waits so long for the first, in milliseconds. */
export const runtimeWaitMs = 15_000;
/** Facts in one answer: one step of the turn writes them. */
export const runtimeFactsPerStepMax = 40;
/** Sandboxes in which one turn may begin, counted together. */
export const runtimeStartsMax = 4;
/** Seconds that the program may take until it answers. */
export const runtimeStartSecondsMax = 60;
/** Seconds without any sign of a busy program: it is stopped, and its turn fails. */
export const runtimeSilenceSecondsMax = 3600;
/** Tries of a program to reach its model in a row. */
export const runtimeModelTriesMax = 5;
/** A prompt, in UTF-8 bytes, with its instructions. */
export const runtimePromptBytesMax = 1_048_576;

/** The part of a program that carries the turn; the numbers are of its sandbox. */
export type RuntimeWork = {
  readonly name: AgentRuntime;
  /** Sandboxes in which the turn has begun. */
  readonly starts: number;
  /** Of the sandbox that has the prompt; absent: none yet. */
  readonly generation?: number;
  /** The number of the last fact that the log has. */
  readonly taken: number;
  /** Decided, and not known to be heard. */
  readonly replies: readonly RuntimeReply[];
};
