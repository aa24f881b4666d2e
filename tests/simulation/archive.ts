/**
 * The archive of workspaces in the simulated world: saves, restores, and what is done with saved states without a sandbox. A
 * transfer is carried by the link, and goes on when its caller has gone.
 */

import type {
  AdoptOutcome,
  ApplyOutcome,
  CompareOutcome,
  RestoreOutcome,
  SavedStates,
  SaveOutcome,
  WorkspaceArchive,
} from '#shared/ports/workspace-archive.ts';
import type { Bucket, Manifest } from './bucket.ts';
import { type Invocation, Later } from './invocation.ts';
import type { Line } from './machine.ts';
import { type InsideOptions, opened, unavailable } from './reach.ts';
import type { Simulation } from './world.ts';

const transferMsMax = 8000;
/** Longer than the claims of a restore (150 s) and of a last save (300 s). */
const longTransferMsMax = 400_000;
/** A link function runs for 15 minutes at most. */
const lateMsMax = 600_000;
const options = { fault: unavailable };

type Transfer = {
  readonly what: string;
  readonly longBy: 'saveLong' | 'restoreLong';
  readonly read: () => void;
  readonly write: () => unknown;
};

/** Mostly short, at times that of a large workspace. */
const transferMs = (sim: Simulation, longBy: Transfer['longBy']): number => {
  const milliseconds = sim.random.chance(0.3) ? sim.random.spread(50, transferMsMax) : 0;
  return sim.fires(longBy) ? sim.further.spread(transferMsMax, longTransferMsMax) : milliseconds;
};

/** Carried by the link: it goes on when its caller's connection breaks, or the caller dies. */
const transfer = <T>(invocation: Invocation, { what, longBy, read, write }: Transfer): Promise<T> => {
  const { sim } = invocation;
  const carry = (): Later => {
    read();
    const milliseconds = sim.latency() + transferMs(sim, longBy);
    if (!sim.fires('halfOpen')) return new Later(milliseconds, write);
    sim.after(milliseconds + sim.further.spread(50, lateMsMax), () => {
      try {
        write();
      } catch (error) {
        sim.note('link', `${what} ends unheard: ${error}`);
      }
    });
    return new Later(milliseconds, () => {
      throw unavailable('the connection to the link broke');
    });
  };
  return invocation.request<T>(what, carry, { ...options, isWrite: true });
};

/** Another manifest of the same lines, without a sandbox. */
const adopt = (
  inside: InsideOptions,
  invocation: Invocation,
  [workspaceId, { id, from, base, obsolete: rule }]: Parameters<WorkspaceArchive['adopt']>,
): Promise<AdoptOutcome> => {
  const { bucket } = inside;
  const { sim } = invocation;
  const write = (): AdoptOutcome => {
    if (sim.fires('storageRefuses')) throw unavailable('the bucket refused a manifest');
    const source = bucket.find(from);
    if (from !== undefined && source === undefined)
      return { status: 'refused', reason: 'the manifest is not the one that was saved' };
    const given = { packs: source === undefined ? [] : bucket.packsFor(workspaceId, source) };
    const lines = source?.lines ?? [];
    const deletes = !sim.fires('storageDeletesPart');
    const next = { id, workspaceId, known: bucket.find(base), lines, rule, deletes };
    const { packs } = bucket.write({ ...next, ...given });
    return {
      status: 'adopted',
      manifest: { id, sha256: `sha-${id}` },
      files: lines.length,
      bytes: 0,
      packs,
    };
  };
  return invocation.call('adopt a manifest', write, { ...options, isWrite: true });
};

const save = (
  inside: InsideOptions,
  invocation: Invocation,
  [sandbox, { id, base, obsolete: rule }]: Parameters<WorkspaceArchive['save']>,
): Promise<SaveOutcome> => {
  const { bucket, ecs } = inside;
  const { sim } = invocation;
  let lines: readonly Line[] = [];
  let known: Manifest | undefined;
  const read = (): void => {
    if (invocation.name.startsWith('janitor')) inside.onLastSave(sandbox);
    known = bucket.find(base);
    lines = opened(inside, invocation, sandbox).lines;
    if (sim.fires('diesInSave')) ecs.fail(sandbox.address);
  };
  const write = (): SaveOutcome => {
    if (sim.faults.diesInSave > 0) opened(inside, invocation, sandbox);
    if (known !== undefined && known.lines.join() === lines.join())
      return { status: 'unchanged', leftOut: [], logs: [] };
    if (sim.fires('storageRefuses')) throw unavailable('the bucket refused a pack');
    const { workspaceId } = sandbox;
    const deletes =
      known !== undefined && known.obsolete.length > 0 ? !sim.fires('storageDeletesPart') : true;
    const { packs } = bucket.write({ id, workspaceId, known, lines, rule, deletes });
    sim.note('bucket', `holds ${id}`);
    if (sim.fires('storageAnswerLost')) throw unavailable('the answer of the bucket was lost');
    const manifest = { id, sha256: `sha-${id}` };
    return { status: 'saved', manifest, files: lines.length, bytes: 0, packs, leftOut: [], logs: [] };
  };
  return transfer(invocation, { what: 'save', longBy: 'saveLong', read, write });
};

const restore = (
  inside: InsideOptions,
  invocation: Invocation,
  [sandbox, { manifest, claim }]: Parameters<WorkspaceArchive['restore']>,
): Promise<RestoreOutcome> => {
  const { sim } = invocation;
  let found: Manifest | undefined;
  const read = (): void => {
    if (sim.fires('storageRefuses')) throw unavailable('the bucket refused a read');
    found = inside.bucket.find(manifest);
  };
  const write = (): RestoreOutcome => {
    const machine = opened(inside, invocation, sandbox);
    if (claim <= machine.restores) throw unavailable('a later restore has begun');
    machine.restores = claim;
    if (manifest === undefined) return { status: 'restored', files: 0, missing: [] };
    if (found === undefined)
      return { status: 'refused', reason: 'the manifest is not the one that was saved' };
    inside.onRestore(sandbox);
    if (!inside.bucket.isWhole(found)) sim.violate('SN1: a manifest that is needed has its packs', found.id);
    const before = found.lines;
    if (machine.lines.some((line) => !before.includes(line)))
      sim.violate('a restore overwrites no work', `${sandbox.workspaceId} ${machine.lines.join()}`);
    machine.lines = before;
    return { status: 'restored', files: before.length, missing: [] };
  };
  return transfer(invocation, { what: 'restore', longBy: 'restoreLong', read, write });
};

type States = { readonly before: readonly Line[]; readonly after: readonly Line[] };

/** Undefined where one of them is not in the bucket. */
const linesOf = (bucket: Bucket, { before, after }: SavedStates): States | undefined => {
  const [old, now] = [bucket.find(before), bucket.find(after)];
  if ((before !== undefined && old === undefined) || (after !== undefined && now === undefined))
    return undefined;
  return { before: old?.lines ?? [], after: now?.lines ?? [] };
};

const without = (lines: readonly Line[], others: readonly Line[]): readonly Line[] =>
  lines.filter((line) => !others.includes(line));

/** Each line is a file of its own. */
const compare = (bucket: Bucket, states: SavedStates): CompareOutcome => {
  const lines = linesOf(bucket, states);
  if (lines === undefined) return { status: 'refused', reason: 'a manifest is not the one that was saved' };
  const { before, after } = lines;
  const type = 'file' as const;
  const files = [
    ...without(before, after).map((path) => ({ path, change: 'removed' as const, type, bytes: 1 })),
    ...without(after, before).map((path) => ({ path, change: 'created' as const, type, bytes: 1 })),
  ];
  return { status: 'compared', files, changes: files.length };
};

/** The call counts as performed where its result is. */
const apply = (
  inside: InsideOptions,
  invocation: Invocation,
  [sandbox, states]: Parameters<WorkspaceArchive['apply']>,
): Promise<ApplyOutcome> => {
  const { bucket, ledger, onApply } = inside;
  let lines: States | undefined;
  const read = (): void => {
    lines = linesOf(bucket, states);
  };
  const write = (): ApplyOutcome => {
    const machine = opened(inside, invocation, sandbox);
    if (lines === undefined) return { status: 'refused', reason: 'a manifest is not the one that was saved' };
    const made = without(lines.after, lines.before);
    for (const line of made) {
      onApply(line);
      ledger.set(line, { times: 1, taskArn: machine.taskArn });
    }
    invocation.sim.coverage.hit('trial/applied');
    machine.lines = [...without(machine.lines, [...made, ...without(lines.before, lines.after)]), ...made];
    return { status: 'applied', files: made.length, missing: [] };
  };
  return transfer(invocation, { what: 'apply', longBy: 'restoreLong', read, write });
};

/** The listing of a prefix is deleted object by object: one that fails leaves the rest. */
const forget = (
  { bucket }: InsideOptions,
  sim: Simulation,
  [workspace, kept = []]: Parameters<WorkspaceArchive['forget']>,
): void => {
  const left = bucket.objectsOf(workspace).filter((object) => !kept.includes(object));
  const isPart = left.length > 0 && sim.fires('storageDeletesPart');
  bucket.removeObjects(workspace, isPart ? left.slice(0, sim.further.int(0, left.length - 1)) : left);
  if (isPart) throw Object.assign(new Error('the bucket refused a deletion'), { name: 'PortFault' });
};

export const archiveFor = (inside: InsideOptions, invocation: Invocation): WorkspaceArchive => ({
  keepsShared: false,
  mountsShared: false,
  save: (...given) => save(inside, invocation, given),
  restore: (...given) => restore(inside, invocation, given),
  adopt: (...given) => adopt(inside, invocation, given),
  compare: (_, states) =>
    invocation.call('compare two states', () => compare(inside.bucket, states), options),
  apply: (...given) => apply(inside, invocation, given),
  remove: (workspace, objects) =>
    invocation.call(`delete objects of ${workspace}`, () => {
      if (invocation.sim.fires('storageDeletesPart')) throw unavailable('the bucket refused a deletion');
      inside.bucket.removeObjects(workspace, objects);
    }),
  forget: (...given) =>
    invocation.call(`forget the files of ${given[0]}`, () => forget(inside, invocation.sim, given)),
});
