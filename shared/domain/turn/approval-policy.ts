/**
 * Decides which calls need a person. A call that a grant covers needs none; the rest follows from the mode
 * (docs/spec/turn.md). A call that is not known to be harmless is asked.
 *
 * A mode saves a person's attention and is no boundary: the sandbox decides what a call can do at all.
 */

import type { Decider } from '../principal.ts';
import { type RequestedCall, toolIdentity } from '../requested-call.ts';
import type { ApprovalMode, Session } from '../session.ts';
import { isReadingAction } from '../tools.ts';
import { type Grant, grantFor, hasPlainArguments, isInput } from './grant.ts';
import { type CallTrial, trialOf } from './trial.ts';
import type { ApprovalPolicy, Repetition, TurnState } from './turn.ts';

type Asked = Pick<RequestedCall, 'name' | 'args' | 'route'>;

/** The same calls for this many times in a row look like a loop. */
const repetitionsMax = 3;

const readers: readonly string[] = ['read_file', 'list_files'];

/** The grant or the mode that allows a call; undefined when a person has to. */
export const allowedBy = (
  call: Asked,
  policy: ApprovalPolicy,
  repetition: Repetition,
): Decider | undefined => {
  if (isInput(call)) return undefined;
  const grant = grantFor(call, policy.grants);
  if (grant !== undefined) return { kind: 'grant', id: grant.id };
  return needsHuman(call, policy, repetition) ? undefined : { kind: 'policy', id: policy.mode };
};

/** The policy that a session's next turn begins with. */
export const policyOf = ({
  approvals: mode,
  grants,
  effects,
}: Pick<Session, 'approvals' | 'grants' | 'effects'>): ApprovalPolicy => ({
  mode,
  grants,
  ...(effects === undefined ? {} : { effects }),
});

/** The grants in force: a turn that runs holds them, and hands them to the session as it ends. */
export const grantsInForce = (
  { grants }: { readonly grants: readonly Grant[] },
  { state }: { readonly state: TurnState },
): readonly Grant[] => ('policy' in state ? state.policy.grants : grants);

/** A tool may be decided by its effect where the session's mode is another one. */
const modeFor = ({ name, route }: Asked, { mode, effects }: ApprovalPolicy): ApprovalMode =>
  route === undefined && effects?.tools?.some((tool) => tool === name) === true ? 'effect' : mode;

/** The trial of a call that needs a person: none, where it is decided by what it says. */
export const trialFor = (call: Asked, policy: ApprovalPolicy): { readonly trial?: CallTrial } =>
  modeFor(call, policy) === 'effect' ? { trial: trialOf(call) } : {};

const needsHuman = (call: Asked, policy: ApprovalPolicy, repetition: Repetition): boolean => {
  switch (modeFor(call, policy)) {
    case 'auto':
      return false;
    case 'high':
      return repetition.times >= repetitionsMax;
    case 'medium':
      return !(isReader(call) || isPlainEdit(call) || isPlainGit(call));
    case 'low':
      return !isReader(call);
    case 'ask':
    case 'effect':
      return true;
  }
};

/** A tool of a registered server that says it reads may do more. */
const isReader = ({ name, route, args: { action } }: Asked): boolean =>
  route === undefined
    ? readers.includes(name)
    : route.kind === 'platform' && isReadingAction(route.tool, action);

/** Of a file, or of a process that the agent may start as well. */
const isPlainEdit = (call: Asked): boolean => isPlainWrite(call) || isPlainEnd(call);

/** Not of git's own files: its configuration and hooks name programs that the next git command starts. */
const isPlainWrite = ({ name, route, args: { path } }: Asked): boolean =>
  route === undefined && name === 'write_file' && typeof path === 'string' && !isGitsOwn(path);

const isPlainEnd = ({ route, args: { action } }: Asked): boolean =>
  route?.kind === 'platform' && route.tool === 'process' && (action === 'signal' || action === 'kill');

/** Variables and folders of a call's own name programs that git starts. */
const isPlainGit = ({ name, route, args }: Asked): boolean =>
  route === undefined &&
  name === 'execute_command' &&
  typeof args['command'] === 'string' &&
  hasPlainArguments(args) &&
  isPlainGitLine(args['command']);

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

// Plain git lines: one git command, of subcommands and options that start no program and write no file that their line
// names. An option that is not in the table is not plain, nor is an abbreviation of one that is. Git's configuration decides
// what it does beside that (hooks, drivers, a monitor): the files that git reads are known by name, and their edit is not
// plain either.

/** Words without shell syntax: no quote, no glob, nothing that ends a command or starts another. */
const plainLine = /^git( [\w./:=@^~,+-]+)+$/;

const listing = '-p --patch --stat --shortstat --numstat --name-only --name-status --oneline --graph --all';
const diffing = `${listing} --no-patch -s --cached --staged -w -b -M --minimal --patience --histogram --word-diff --color= -U`;
const choosing = '-n --max-count= --skip= --since= --until= --author= --grep= --reverse --merges --no-merges';
const logging = `${diffing} ${choosing} --first-parent --follow --decorate --abbrev-commit --pretty= --format= --date=`;
const applying = '-n --no-commit --no-edit --abort --quit --skip';

/**
 * Long names as they are written, those that end in `=` with a value; single letters, alone or in a row, followed
 * by a number or not. Letters mean different things to different subcommands: `-s` of merge would name a program.
 */
// biome-ignore format: a table is read by row
const options: Readonly<Record<string, string>> = {
  add: '-A -u -n -v -f -N --all --update --dry-run --verbose --force --intent-to-add',
  blame: '-w -s -e -l -t -M -C -L',
  branch: '-a -r -v -d -D -m -f -l -q --all --remotes --list --delete --force --move --show-current --verbose --merged --no-merged',
  checkout: '-b -B -f -q --ours --theirs --detach --force --quiet --orphan',
  'cherry-pick': `${applying} -x`,
  commit: '-a -m -q -s -v --all --message= --amend --no-edit --allow-empty --quiet --signoff --dry-run',
  diff: diffing,
  log: logging,
  'ls-files': '-c -d -m -o -s --cached --deleted --modified --others --stage --exclude-standard',
  merge: '-m -q --no-ff --ff --ff-only --squash --no-commit --no-edit --abort --quit --quiet',
  mv: '-f -k -n -v --force --dry-run --verbose',
  reset: '-q --soft --mixed --hard --keep --merge --quiet',
  restore: '-s -S -W -q --source= --staged --worktree --ours --theirs --quiet',
  'rev-parse': '-q --short --abbrev-ref --verify --show-toplevel --show-prefix --is-inside-work-tree --quiet',
  revert: applying,
  rm: '-f -n -q -r --cached --force --dry-run --quiet',
  shortlog: '-n -s -e --numbered --summary --email',
  show: logging,
  stash: '-k -m -q -u --message= --keep-index --include-untracked --index --quiet --stat',
  status: '-s -b -u -v --short --branch --porcelain --porcelain= --untracked-files= --ignored --verbose',
  switch: '-c -C -d -f -q --create --detach --discard-changes --orphan --quiet',
  tag: '-a -d -f -l -m -n --annotate --delete --force --list --message= --sort=',
};

const allowed = new Map(
  Object.entries(options).map(([command, names]) => [command, new Set(names.split(' '))] as const),
);

/** Also behind `--`, which an option before it may take for its value. */
const isKnown = (known: ReadonlySet<string>, option: string): boolean => {
  if (option === '--' || option === '-') return true;
  const [, letters] = /^-([A-Za-z]*)\d*$/.exec(option) ?? [];
  if (letters !== undefined) return [...letters].every((letter) => known.has(`-${letter}`));
  const [, name = '', value] = /^(--[^=]+)(=.*)?$/.exec(option) ?? [];
  return known.has(value === undefined ? name : `${name}=`);
};

/** Git's own files: they name programs that the next git command starts. The home of user code is the workspace. */
const ownFile = /(^|\/)\.(git|gitconfig|config)(\/|$)/i;

const isGitsOwn = (path: string): boolean => ownFile.test(path);

const isPlainGitLine = (line: string): boolean => {
  if (!plainLine.test(line)) return false;
  const [, command = '', ...words] = line.split(' ');
  const known = allowed.get(command);
  return (
    known !== undefined &&
    words.every((word) => !isGitsOwn(word) && (!word.startsWith('-') || isKnown(known, word)))
  );
};
