/**
 * The agents of a project: instructions for all of them, and named agents with a model, tools, approvals and thinking of their own. A session takes them when it is made; a later change of the project applies to later sessions.
 */

import type { EffectPolicy } from './effect-rule.ts';
import { instructionsBytesMax, projectInstructionsBytesMax } from './limits.ts';
import type { ThinkingLevel } from './model.ts';
import type { ApprovalMode } from './session.ts';
import { utf8Bytes } from './text.ts';

export type NamedAgent = {
  readonly name: string;
  readonly instructions?: string;
  /** A model of the session's provider. */
  readonly model?: string;
  /** The only tools that it is offered; absent: all of the project. */
  readonly tools?: readonly string[];
  readonly approvals?: ApprovalMode;
  /** Instead of the project's. */
  readonly effects?: EffectPolicy;
  readonly thinking?: ThinkingLevel;
};

export const isShortEnough = (instructions: string): boolean =>
  utf8Bytes(instructions) <= instructionsBytesMax;

type Profile = { readonly instructions?: string; readonly agents?: readonly NamedAgent[] };

/** A project is one item of the table. */
export const fitsProject = ({ instructions = '', agents = [] }: Profile): boolean =>
  utf8Bytes(JSON.stringify([instructions, agents])) <= projectInstructionsBytesMax;

export const hasDistinctNames = (agents: readonly NamedAgent[]): boolean =>
  new Set(agents.map(({ name }) => name)).size === agents.length;

/** From the general to the particular; undefined when there are none. */
export const joinInstructions = (...parts: readonly (string | undefined)[]): string | undefined => {
  const given = parts.filter((part) => part !== undefined && part.trim() !== '');
  return given.length === 0 ? undefined : given.join('\n\n');
};

/** Tools that both allow; undefined where neither names any. */
export const toolsAllowedBy = (
  agent: readonly string[] | undefined,
  session: readonly string[] | undefined,
): readonly string[] | undefined => {
  if (agent === undefined || session === undefined) return agent ?? session;
  return session.filter((name) => agent.includes(name));
};
