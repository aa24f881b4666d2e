/**
 * One change of a project's secrets: read the current bundle, make another, point at it, delete the obsolete
 * ones.
 *
 * Writers wait for each other, so that none works in vain. No value is lost because of the pointer's condition
 * alone: a writer that was overtaken commits nothing, deletes what it made, and begins again. A bundle that was deleted by
 * other means is as one without secrets, so its project can be given others, and be deleted.
 */
import { randomUUID } from 'node:crypto';
import type { Secrets } from '#shared/domain/project.ts';
import { AppError } from '#shared/errors.ts';
import type { CommittedSecrets, Hold, SecretPointer, SecretPointers } from './dynamo/secret-pointer.ts';
import type { SecretBundles } from './secret-bundles.ts';

export type SecretParts = {
  readonly pointers: SecretPointers;
  readonly bundles: SecretBundles;
  /** The prefix of every bundle's name; ends with a slash. */
  readonly prefix: string;
  /** Epoch milliseconds. */
  readonly now: () => number;
};

/** The next secrets, or the reason for which they stay as they are. */
export type Decide<R extends string> = (secrets: Secrets) => Secrets | R;

/** Longer than a change takes; after a writer died, others wait for this time. */
const holdMs = 20_000;
const waitMsMax = 25_000;
const waitStepMsMax = 120;
/** Attempts to acquire a hold that was lost to another writer. */
const changeTriesMax = 3;
/** Attempts to find a new bundle, with twice the pause each time. */
const findTriesMax = 5;
const findPauseMsMin = 100;

export const changeSecrets = async <R extends string>(
  parts: SecretParts,
  of: Pick<Hold, 'project' | 'isClearing'>,
  decide: Decide<R>,
): Promise<Secrets | R> => {
  for (let tries = 1; tries <= changeTriesMax; tries += 1) {
    const hold = { ...of, draft: `${parts.prefix}${of.project}/${randomUUID()}` };
    const pointer = await takeHold(parts, hold);
    const outcome = await changeHeld(parts, { hold, pointer, decide }).catch(async (cause: unknown) => {
      // A hold that is not released expires.
      await parts.pointers.release(hold).catch(() => undefined);
      throw cause;
    });
    if (outcome.isCommitted) return outcome.decision;
  }
  throw beingChanged();
};

const takeHold = async ({ pointers, now }: SecretParts, hold: Hold): Promise<SecretPointer> => {
  const lateAt = now() + waitMsMax;
  for (;;) {
    const at = now();
    const pointer = await pointers.take(hold, { at, until: at + holdMs });
    if (pointer === 'gone') throw new AppError('project_not_found', 'there is no such project');
    if (pointer !== undefined) return pointer;
    if (at > lateAt) throw beingChanged();
    await pause(Math.random() * waitStepMsMax);
  }
};

type Held<R extends string> = {
  readonly hold: Hold;
  readonly pointer: SecretPointer;
  readonly decide: Decide<R>;
};
type Outcome<R> = { readonly isCommitted: boolean; readonly decision: Secrets | R };

const changeHeld = async <R extends string>(
  { pointers, bundles }: SecretParts,
  { hold, pointer: taken, decide }: Held<R>,
): Promise<Outcome<R>> => {
  const { secrets, pointer } = await readHeld(bundles, taken, decide);
  const decision = decide(secrets);
  const committed =
    typeof decision === 'string' ? unchanged(hold, pointer) : changed(hold, pointer, decision);
  if (typeof decision !== 'string' && committed.current !== undefined)
    await bundles.create(committed.current, decision);
  const isCommitted = await pointers.commit(hold, committed);
  // Overtaken: the others' litter is theirs.
  const gone = isCommitted ? committed.litter : new Set([hold.draft]);
  try {
    for (const bundle of gone) await bundles.remove(bundle);
    if (gone.size > 0) await pointers.cleared(hold.project, gone);
  } catch (cause) {
    throw isCommitted && typeof decision !== 'string' ? notCleared(cause) : cause;
  }
  return { isCommitted, decision };
};

type Read = { readonly secrets: Secrets; readonly pointer: SecretPointer };

const readHeld = async <R extends string>(
  bundles: SecretBundles,
  pointer: SecretPointer,
  decide: Decide<R>,
): Promise<Read> => {
  const { current, names, litter } = pointer;
  if (current === undefined) return { secrets: {}, pointer };
  const found = await soonFound(() => bundles.find(current));
  if (found !== undefined) return { secrets: found, pointer };
  // The names are enough for a change that leaves no secret: the function that deletes a project may create no bundle.
  const valueless = Object.fromEntries(names.map((name) => [name, '']));
  if (leavesNone(decide(valueless))) return { secrets: valueless, pointer };
  if (!(await bundles.claim(current))) throw notFound();
  return {
    secrets: {},
    pointer: { current: undefined, names: [], litter: new Set([...litter, current]) },
  };
};

const leavesNone = (decision: Secrets | string): boolean =>
  typeof decision !== 'string' && Object.keys(decision).length === 0;

/** A dead writer's litter is deleted all the same: it may hold a value that a person wants removed. */
const unchanged = ({ draft }: Hold, { current, names, litter }: SecretPointer): CommittedSecrets => ({
  current,
  names,
  litter: without(litter, draft),
});

const changed = ({ draft }: Hold, { current, litter }: SecretPointer, secrets: Secrets): CommittedSecrets => {
  const names = Object.keys(secrets);
  const old = current === undefined ? [] : [current];
  return {
    current: names.length === 0 ? undefined : draft,
    names,
    litter: new Set([...without(litter, draft), ...old]),
  };
};

const without = (bundles: ReadonlySet<string>, one: string): ReadonlySet<string> =>
  new Set([...bundles].filter((bundle) => bundle !== one));

type Find = () => Promise<Secrets | undefined>;

/** A new bundle may not be found yet. */
const soonFound = async (find: Find): Promise<Secrets | undefined> => {
  for (let tries = 1; ; tries += 1) {
    const found = await find();
    if (found !== undefined || tries === findTriesMax) return found;
    await pause(findPauseMsMin * 2 ** (tries - 1));
  }
};

export const whenThere = async (find: Find): Promise<Secrets> => {
  const found = await soonFound(find);
  if (found === undefined) throw notFound();
  return found;
};

const notFound = (): AppError =>
  new AppError('internal_error', 'the current secrets of a project were not found');

/** The change holds: its caller records it, and repeats it until nothing obsolete is left. */
const notCleared = (cause: unknown): AppError =>
  new AppError('internal_error', 'the secrets were changed, and the former ones could not be deleted', {
    ...{ cause, context: { isChanged: true } },
    suggestions: ['Try again in a moment.'],
    recoveryActions: ['wait_and_retry'],
  });

const pause = (milliseconds: number): Promise<void> =>
  new Promise((resolve) => setTimeout(resolve, milliseconds));

const beingChanged = (): AppError =>
  new AppError('too_many_requests', 'the secrets of this project are being changed concurrently', {
    suggestions: ['Try again in a moment.'],
    recoveryActions: ['wait_and_retry'],
  });
