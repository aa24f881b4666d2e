/**
 * The port to a program of user code that carries turns: it receives a prompt and reports events.
 *
 * Each kind of program has an adapter (`opencode/`), which starts it on the user's side and translates its wire into facts.
 * All that it says is untrusted, and bounded by the recorder. The platform knows no wire of any of them.
 */
import type { RuntimeDelta, RuntimeFact, RuntimePrompt, RuntimeReply } from '#shared/domain/runtime.ts';
import type { UserSide } from '../user-side.ts';

/** The ear of one turn. */
export type AgentListener = {
  /** Nothing is heard after `ended`. */
  readonly fact: (fact: RuntimeFact) => void;
  readonly delta: (delta: RuntimeDelta) => void;
  /** Resolves when more may be said: a program that is ahead waits. */
  readonly room: () => Promise<void>;
};

/** A turn that the program has. */
export type AgentTurn = {
  /** A question that is answered already, or was taken back, counts as answered. */
  readonly reply: (reply: RuntimeReply) => Promise<void>;
  /** The listener hears `ended` once it has stopped. */
  readonly abort: () => Promise<void>;
};

export type AgentProgram = {
  /**
   * Starts the program where it does not run, and gives it the prompt once. Throws a reason for a person when it cannot; a program
   * that ends later is heard as `ended` with `lost`.
   */
  readonly prompt: (prompt: RuntimePrompt, listener: AgentListener) => Promise<AgentTurn>;
};

/** The parts of the sandbox that an adapter starts its program with. */
export type AgentParts = { readonly userSide: UserSide; readonly workspace: string };

/** Where images and people put such programs: an image's own, then those of the workspace. */
export const agentSearchPath = (workspace: string): string =>
  `/opt/agents/bin:/usr/local/bin:${workspace}/.local/bin`;
