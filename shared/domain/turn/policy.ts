/**
 * Decides which calls need a person. A call that a grant covers needs none; the rest follows from the mode
 * (docs/spec/turn.md). A call that is not known to be harmless is asked.
 *
 * A mode saves a person's attention and is no boundary: the sandbox decides what a call can do at all.
 */
import { type AskedCall, toolIdentity } from '../asked-call.ts';
import type { Decider } from '../principal.ts';
import { isLook } from '../session-tool.ts';
import { type Grant, grantFor } from './grant.ts';
import { isGitsOwn, isPlainGitLine } from './plain-git.ts';
import type { ApprovalPolicy, Repetition, TurnState } from './turn.ts';

type Asked = Pick<AskedCall, 'name' | 'args' | 'route'>;

/** The same calls for this many times in a row look like a loop. */
const repetitionsMax = 3;

const readers: readonly string[] = ['read_file', 'list_files'];

/** The grant or the mode that allows a call; undefined when a person has to. */
export const allowedBy = (
  call: Asked,
  policy: ApprovalPolicy,
  repetition: Repetition,
): Decider | undefined => {
  const grant = grantFor(call, policy.grants);
  if (grant !== undefined) return { kind: 'grant', id: grant.id };
  return needsHuman(call, policy, repetition) ? undefined : { kind: 'policy', id: policy.mode };
};

/** The grants in force: a turn that runs holds them, and hands them to the session as it ends. */
export const grantsInForce = (
  { grants }: { readonly grants: readonly Grant[] },
  { state }: { readonly state: TurnState },
): readonly Grant[] => ('policy' in state ? state.policy.grants : grants);

const needsHuman = (call: Asked, policy: ApprovalPolicy, repetition: Repetition): boolean => {
  switch (policy.mode) {
    case 'auto':
      return false;
    case 'high':
      return repetition.times >= repetitionsMax;
    case 'medium':
      return !(isReader(call) || isPlainEdit(call) || isPlainGit(call));
    case 'low':
      return !isReader(call);
    case 'ask':
      return true;
  }
};

/** A tool of a registered server that says it reads may do more. */
const isReader = ({ name, route, args: { action } }: Asked): boolean =>
  route === undefined ? readers.includes(name) : route.kind === 'platform' && isLook(action);

/** Not of git's own files: its configuration and hooks name programs that the next git command starts. */
const isPlainEdit = ({ name, route, args: { path } }: Asked): boolean =>
  route === undefined && name === 'write_file' && typeof path === 'string' && !isGitsOwn(path);

const isPlainGit = ({ name, route, args: { command } }: Asked): boolean =>
  route === undefined && name === 'execute_command' && typeof command === 'string' && isPlainGitLine(command);

/** Counts the answers in a row that ask for exactly the same calls. */
export const repetitionOf = (asked: readonly Asked[], last: Repetition | undefined): Repetition => {
  const calls = fingerprint(JSON.stringify(asked.map((call) => [toolIdentity(call), call.args])));
  return { calls, times: last?.calls === calls ? last.times + 1 : 1 };
};

/** The calls themselves may be as long as an item of the table; two that meet cost a human one question. */
const fingerprint = (text: string): string => {
  let [one, other] = [0x811c9dc5, 0x9e3779b9];
  for (let index = 0; index < text.length; index += 1) {
    const unit = text.charCodeAt(index);
    one = Math.imul(one ^ unit, 0x01000193);
    other = Math.imul(other ^ unit, 0x85ebca6b);
  }
  return `${text.length}:${one >>> 0}:${other >>> 0}`;
};
