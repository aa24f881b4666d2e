/**
 * The ways into a sandbox in the simulated world: the link, the tools, the archive and its bucket. Each fails as its
 * adapter does: a machine that cannot be reached is `sandbox_unavailable`, a wrong bearer is no answer.
 */

import type { WorkspaceId } from '#shared/domain/ids.ts';
import type { LiveSandbox } from '#shared/domain/sandbox.ts';
import { AppError } from '#shared/errors.ts';
import type { SandboxLink, SandboxTools, ToolOutcome } from '#shared/ports/sandbox.ts';
import type { RestoreOutcome, SaveOutcome, WorkspaceArchive } from '#shared/ports/workspace-archive.ts';
import type { Ecs } from './ecs.ts';
import { type Invocation, Later } from './invocation.ts';
import type { Line, Machine } from './machine.ts';
import type { Simulation } from './world.ts';

export type Manifest = {
  readonly id: string;
  readonly base: string | undefined;
  readonly workspaceId: WorkspaceId;
  readonly lines: readonly Line[];
};

export type Bucket = Map<string, Manifest>;

export type InsideOptions = {
  readonly ecs: Ecs;
  readonly bucket: Bucket;
  readonly onDeleted: (manifest: Manifest) => void;
  /** A janitor begins to save it. */
  readonly onLastSave: (sandbox: LiveSandbox) => void;
  /** Files are about to be put into a sandbox. */
  readonly onRestore: (sandbox: LiveSandbox) => void;
  readonly bearerHash: (workspaceId: WorkspaceId, generation: number) => string;
};

const unavailable = (what: string): AppError => new AppError('sandbox_unavailable', what);
const transferMsMax = 8000;
/** Longer than the claims of a restore (150 s) and of a last save (300 s). */
const longTransferMsMax = 400_000;
/** A link function runs for 15 minutes at most. */
const lateMsMax = 600_000;
const options = { fault: unavailable };

const reached = ({ ecs }: InsideOptions, { sim }: Invocation, { address }: LiveSandbox): Machine => {
  const machine = sim.fires('linkDown') ? undefined : ecs.reach(address);
  if (machine === undefined) throw unavailable('the sandbox does not answer');
  return machine;
};

const opened = (inside: InsideOptions, invocation: Invocation, sandbox: LiveSandbox): Machine => {
  const machine = reached(inside, invocation, sandbox);
  if (machine.bearer !== inside.bearerHash(sandbox.workspaceId, sandbox.generation))
    throw unavailable('the sandbox answered 401');
  return machine;
};

/** An answer of so few bytes that its body does not matter. */
const answer = (status: number): Response =>
  ({ status, ok: status < 400, body: null }) as unknown as Response;

export const linkFor = (inside: InsideOptions, invocation: Invocation): SandboxLink => ({
  fetch: (sandbox, { method, path, body }) =>
    invocation.call(
      `${method} ${path}`,
      () => {
        const machine = reached(inside, invocation, sandbox);
        if (machine.bearer !== inside.bearerHash(sandbox.workspaceId, sandbox.generation)) return answer(401);
        if (path !== '/claim') return answer(200);
        machine.bearer = String(JSON.parse(String(body))['bearerSha256']);
        return answer(204);
      },
      options,
    ),
});

export const toolsFor = (inside: InsideOptions, invocation: Invocation): SandboxTools => ({
  call: ({ sandbox, callKey, onProgress, signal }) => {
    const { sim } = invocation;
    const cancel = (): void => {
      sim.after(sim.latency(), () => inside.ecs.reach(sandbox.address)?.cancel(callKey));
    };
    signal?.addEventListener('abort', cancel, { once: true });
    return new Promise<ToolOutcome>((resolve) => {
      const hear = (outcome: ToolOutcome): void =>
        sim.after(sim.latency(), () =>
          invocation.hear(() => {
            signal?.removeEventListener('abort', cancel);
            if (sim.fires('death')) return invocation.die('while a call answers');
            sim.wake();
            if (outcome.status === 'finished') onProgress({ stream: 'stdout', offset: 0, text: 'x' });
            resolve(outcome);
          }),
        );
      if (!invocation.isAlive) return;
      sim.after(sim.latency(), () => {
        try {
          opened(inside, invocation, sandbox).ask(callKey, hear);
        } catch (error) {
          hear({ status: 'lost', message: String(error) });
        }
      });
    });
  },
});

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

const save = (
  inside: InsideOptions,
  invocation: Invocation,
  [sandbox, { id, base }]: Parameters<WorkspaceArchive['save']>,
): Promise<SaveOutcome> => {
  const { bucket, ecs, onDeleted } = inside;
  const { sim } = invocation;
  let lines: readonly Line[] = [];
  let known: Manifest | undefined;
  const read = (): void => {
    if (invocation.name.startsWith('janitor')) inside.onLastSave(sandbox);
    known = base && bucket.get(base.id);
    lines = opened(inside, invocation, sandbox).lines;
    if (sim.fires('diesInSave')) ecs.fail(sandbox.address);
  };
  const write = (): SaveOutcome => {
    if (sim.faults.diesInSave > 0) opened(inside, invocation, sandbox);
    if (known !== undefined && known.lines.join() === lines.join()) return { status: 'unchanged', logs: [] };
    if (sim.fires('storageRefuses')) throw unavailable('the bucket refused a pack');
    const obsolete = known?.base === undefined ? undefined : bucket.get(known.base);
    const isDeleted =
      obsolete !== undefined && !sim.fires('storageDeletesPart') && bucket.delete(obsolete.id);
    if (isDeleted) onDeleted(obsolete);
    bucket.set(id, { id, base: base?.id, workspaceId: sandbox.workspaceId, lines });
    sim.note('bucket', `holds ${id}`);
    if (sim.fires('storageAnswerLost')) throw unavailable('the answer of the bucket was lost');
    const manifest = { id, sha256: `sha-${id}` };
    return { status: 'saved', manifest, files: lines.length, bytes: 0, leftOut: [], logs: [] };
  };
  return transfer(invocation, { what: 'save', longBy: 'saveLong', read, write });
};

const restore = (
  inside: InsideOptions,
  invocation: Invocation,
  [sandbox, { manifest }]: Parameters<WorkspaceArchive['restore']>,
): Promise<RestoreOutcome> => {
  const { sim } = invocation;
  let found: Manifest | undefined;
  const read = (): void => {
    if (sim.fires('storageRefuses')) throw unavailable('the bucket refused a read');
    found = manifest && inside.bucket.get(manifest.id);
  };
  const write = (): RestoreOutcome => {
    const machine = opened(inside, invocation, sandbox);
    if (manifest === undefined) return { status: 'restored', files: 0, missing: [] };
    if (found === undefined)
      return { status: 'refused', reason: 'the manifest is not the one that was saved' };
    inside.onRestore(sandbox);
    const before = found.lines;
    if (machine.lines.some((line) => !before.includes(line)))
      sim.violate('a restore overwrites no work', `${sandbox.workspaceId} ${machine.lines.join()}`);
    machine.lines = before;
    return { status: 'restored', files: before.length, missing: [] };
  };
  return transfer(invocation, { what: 'restore', longBy: 'restoreLong', read, write });
};

/** The listing of a prefix is deleted object by object: one that fails leaves the rest. */
const forget = ({ bucket, onDeleted }: InsideOptions, sim: Simulation, workspace: WorkspaceId): void => {
  const left = [...bucket.values()].filter(({ workspaceId }) => workspaceId === workspace);
  const isPart = left.length > 0 && sim.fires('storageDeletesPart');
  const deleted = isPart ? left.slice(0, sim.further.int(0, left.length - 1)) : left;
  for (const manifest of deleted) if (bucket.delete(manifest.id)) onDeleted(manifest);
  if (isPart) throw Object.assign(new Error('the bucket refused a deletion'), { name: 'PortFault' });
};

export const archiveFor = (inside: InsideOptions, invocation: Invocation): WorkspaceArchive => ({
  keepsShared: false,
  save: (...given) => save(inside, invocation, given),
  restore: (...given) => restore(inside, invocation, given),
  forget: (workspace) =>
    invocation.call(`forget the files of ${workspace}`, () => forget(inside, invocation.sim, workspace)),
});
