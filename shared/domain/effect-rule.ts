/**
 * Rules over effects: what happens to a call that was tried, by what it would do. A rule approves it, refuses it, or has a
 * person asked; the first rule that fits decides, and where none fits a person is asked.
 *
 * An effect that is not listed whole is never approved by a rule: the rest of it is unknown. Neither is one that makes a
 * link, changes one, or replaces an entry by another type: a later write through it lands where no path says. A rule is a
 * person's word, given before the call; what it approves is applied as what a person approves is.
 */

import type { Effect, EffectFile } from './effect.ts';
import { utf8Bytes } from './text.ts';
import { sandboxToolNames } from './tools.ts';

/** The tools whose calls can be tried: code keeps its state in an interpreter that has no copy. */
export const triedTools = sandboxToolNames.filter((name) => name !== 'execute_code');
export type TriedTool = (typeof triedTools)[number];

export const effectVerdicts = ['approve', 'ask', 'refuse'] as const;
export type EffectVerdict = (typeof effectVerdicts)[number];

/** It fits an effect that has all that it names; one that names nothing fits every effect. */
export type EffectRule = {
  readonly verdict: EffectVerdict;
  /** The call is of one of these tools. */
  readonly tools?: TriedTool[];
  /** Every changed file is one of these, or below one. `.`: the whole workspace. */
  readonly within?: string[];
  /** Some changed file is. */
  readonly touches?: string[];
  /** True: some file is removed; false: none is. */
  readonly removes?: boolean;
  /** True: it asked for some host, a model or a tool of the platform; false: for none. */
  readonly wantsHosts?: boolean;
  /** True: it did not fail, nor did its program; false: it failed. */
  readonly succeeds?: boolean;
  /** So many files change at most. */
  readonly filesMax?: number;
  /** The files that it makes and changes have so many bytes at most. */
  readonly bytesMax?: number;
};

export type EffectPolicy = {
  /** Calls of these tools are tried and asked by their effect, whatever the session's approvals are. */
  readonly tools?: TriedTool[];
  readonly rules?: EffectRule[];
};

export const effectRulesMax = 20;
export const effectPathsMax = 20;
export const effectPathCharactersMax = 200;
/** As JSON: it is part of the turn's state. */
export const effectPolicyBytesMax = 8000;

export const isShortEffectPolicy = (policy: EffectPolicy): boolean =>
  utf8Bytes(JSON.stringify(policy)) <= effectPolicyBytesMax;

/** A path of the workspace as effects name it: no part of it is empty or means another folder. */
export const isRulePath = (path: string): boolean =>
  path === '.' ||
  (!path.includes('\0') &&
    path
      .replace(/\/$/, '')
      .split('/')
      .every((part) => part !== '' && part !== '.' && part !== '..'));

/** A call as it was tried. */
export type RuledCall = { readonly name: string; readonly effect: Effect; readonly hasFailed: boolean };

/** The verdict and the number of the rule that gave it, from 1; undefined where no rule fits. */
export type Ruling = { readonly verdict: EffectVerdict; readonly rule: number };

export const ruleOn = (call: RuledCall, rules: readonly EffectRule[]): Ruling | undefined => {
  const { files, filesLeftOut } = call.effect;
  const mayApprove = filesLeftOut === undefined && files.every(isPlain);
  const index = rules.findIndex((rule) => (mayApprove || rule.verdict !== 'approve') && fits(rule, call));
  const found = rules[index];
  return found && { verdict: found.verdict, rule: index + 1 };
};

/** Of an entry without a type nothing is known. A link that is removed leads nowhere any more. */
const isPlain = ({ change, type, typeBefore }: EffectFile): boolean =>
  type !== undefined && typeBefore === undefined && (type !== 'symlink' || change === 'removed');

const fits = (rule: EffectRule, call: RuledCall): boolean =>
  fitsTool(rule, call) && fitsOutcome(rule, call) && fitsPaths(rule, call) && fitsAmount(rule, call);

const fitsTool = ({ tools }: EffectRule, { name }: RuledCall): boolean =>
  tools === undefined || tools.some((tool) => tool === name);

const fitsOutcome = (
  { wantsHosts, succeeds }: EffectRule,
  { effect: { hosts, exitCode }, hasFailed }: RuledCall,
): boolean =>
  isEither(wantsHosts, hosts.length > 0) &&
  isEither(succeeds, !hasFailed && (exitCode === null || exitCode === 0));

/** Of files that are left out nothing is known: neither that all are within, nor that none is removed. */
const fitsPaths = (
  { within, touches, removes }: EffectRule,
  { effect: { files, filesLeftOut } }: RuledCall,
): boolean => {
  const isWhole = filesLeftOut === undefined;
  const isRemoving = files.some(({ change }) => change === 'removed');
  return (
    (within === undefined || (isWhole && files.every((file) => isBelow(file, within)))) &&
    (touches === undefined || files.some((file) => isBelow(file, touches))) &&
    (removes === undefined || (removes ? isRemoving : isWhole && !isRemoving))
  );
};

const fitsAmount = (
  { filesMax, bytesMax }: EffectRule,
  { effect: { files, filesLeftOut = 0 } }: RuledCall,
): boolean => {
  const written = files.filter(({ change }) => change !== 'removed');
  const bytes = written.reduce((sum, file) => sum + file.bytes, 0);
  return (
    (filesMax === undefined || files.length + filesLeftOut <= filesMax) &&
    (bytesMax === undefined || (filesLeftOut === 0 && bytes <= bytesMax))
  );
};

const isEither = (wanted: boolean | undefined, is: boolean): boolean => wanted === undefined || wanted === is;

const isBelow = ({ path }: EffectFile, folders: readonly string[]): boolean =>
  folders.some((folder) => {
    const top = folder.replace(/\/$/, '');
    return top === '.' || path === top || path.startsWith(`${top}/`);
  });
