/**
 * The details of a session that its client chooses and may change: title, labels, whether it is archived, how long it
 * may be idle and its sandbox may live, the network of that, and how long its model thinks.
 *
 * The owner of a label is the client: the platform only compares it.
 */

import type { Network } from './egress-policy.ts';
import { labelValueCharactersMax } from './limits.ts';
import type { ThinkingLevel } from './model.ts';
import { isPlainName } from './visible-text.ts';

export type SessionDetails = {
  /** The first words of its first message (`titleOf`), or the client's own; absent until then. */
  readonly title?: string;
  readonly labels?: Readonly<Record<string, string>>;
  /** Left out of lists. */
  readonly isArchived?: true;
  /** Instead of the operator's idle limit, in milliseconds. */
  readonly idleMs?: number;
  /** From the readiness of a sandbox to its stop, in milliseconds; absent: no limit. */
  readonly lifetimeMs?: number;
  /** The hosts that a sandbox that it starts may reach, within its project's; absent: none. */
  readonly network?: Network;
  /** Of messages that name no level; absent: as its model thinks by itself. */
  readonly thinking?: ThinkingLevel;
};

/** Undefined removes a detail; one that is left out stays. */
export type DetailsChange = { readonly [Name in keyof SessionDetails]?: SessionDetails[Name] | undefined };

/** Those by which the holder of a turn works; undefined: absent. The network is read when a sandbox starts. */
export const turnDetailsOf = ({ title, idleMs, lifetimeMs, thinking }: SessionDetails) =>
  ({ title, idleMs, lifetimeMs, thinking }) satisfies DetailsChange;

export type Label = { readonly key: string; readonly value: string };

const labelKey = /^[\w./-]{1,64}$/;
export const labelKeyRule = 'has 1 to 64 letters, digits, dots, slashes, hyphens and underscores';
export const labelValueRule = `has at most ${labelValueCharactersMax} characters, none of them invisible`;

export const isLabelKey = (key: string): boolean => labelKey.test(key);
export const isLabelValue = (value: string): boolean =>
  value.length <= labelValueCharactersMax && (value === '' || isPlainName(value));

/** `key:value`, as a list is filtered: a key has no colon. */
export const decodeLabel = (text: string): Label | undefined => {
  const colon = text.indexOf(':');
  const label = { key: text.slice(0, colon), value: text.slice(colon + 1) };
  return colon > 0 && isLabelKey(label.key) && isLabelValue(label.value) ? label : undefined;
};

export const hasLabel = ({ labels = {} }: Pick<SessionDetails, 'labels'>, { key, value }: Label): boolean =>
  Object.hasOwn(labels, key) && labels[key] === value;
