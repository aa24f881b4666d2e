/**
 * The ways into a sandbox in the simulated world: the link, the tools, the archive and its bucket. Each fails as its
 * adapter does: a machine that cannot be reached is `sandbox_unavailable`, a wrong bearer is no answer.
 */

import type { WorkspaceId } from '#shared/domain/ids.ts';
import type { LiveSandbox } from '#shared/domain/sandbox.ts';
import { AppError, UnsentError } from '#shared/errors.ts';
import type {
  AskedOutcome,
  LinkRequest,
  SandboxCall,
  SandboxLink,
  SandboxTools,
} from '#shared/ports/sandbox.ts';
import type {
  AdoptOutcome,
  RestoreOutcome,
  SaveOutcome,
  WorkspaceArchive,
} from '#shared/ports/workspace-archive.ts';
import type { Bucket, Manifest } from './bucket.ts';
import type { Ecs } from './ecs.ts';
import { type Invocation, Later } from './invocation.ts';
import type { Line, Machine } from './machine.ts';
import type { RelayChecker } from './relay-checker.ts';
import { answerRelay } from './relay-link.ts';
import type { Simulation } from './world.ts';

export type InsideOptions = {
  readonly ecs: Ecs;
  readonly bucket: Bucket;
  /** A janitor begins to save it. */
  readonly onLastSave: (sandbox: LiveSandbox) => void;
  /** Files are about to be put into a sandbox. */
  readonly onRestore: (sandbox: LiveSandbox) => void;
  /** A process receives input. */
  readonly onInput: (processId: string) => void;
  readonly relays: RelayChecker;
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
  if (machine === undefined) throw new UnsentError('the sandbox does not answer');
  return machine;
};

const opened = (inside: InsideOptions, invocation: Invocation, sandbox: LiveSandbox): Machine => {
  const machine = reached(inside, invocation, sandbox);
  if (machine.bearer !== inside.bearerHash(sandbox.workspaceId, sandbox.generation))
    throw unavailable('the sandbox answered 401');
  return machine;
};

/** An answer of so few bytes that its body does not matter. */
const refused = { error: { code: 'unauthorized', message: 'not the bearer of this sandbox' } };
const answer = (status: number, body: object = refused): Response =>
  ({ status, ok: status < 400, body: null, json: async () => body }) as unknown as Response;

export const linkFor = (inside: InsideOptions, invocation: Invocation): SandboxLink => ({
  fetch: (sandbox, request) =>
    invocation.request<Response>(
      `${request.method} ${request.path}`,
      () => {
        const machine = reached(inside, invocation, sandbox);
        if (machine.bearer !== inside.bearerHash(sandbox.workspaceId, sandbox.generation)) return answer(401);
        const by = { by: invocation, checker: inside.relays };
        return answerRelay(machine, request, by) ?? answerServer(inside, machine, request);
      },
      options,
    ),
});

const answerServer = (
  { onInput }: InsideOptions,
  machine: Machine,
  { method, path, body }: LinkRequest,
): Response => {
  const input = /^\/processes\/([^/]+)\/stdin/.exec(path)?.[1];
  if (input !== undefined) onInput(input);
  if (path === '/processes' && method === 'GET')
    return answer(200, { processes: [], calls: machine.running.length });
  if (path !== '/claim') return answer(200);
  machine.bearer = String(JSON.parse(String(body))['bearerSha256']);
  return answer(204);
};

export const toolsFor = (inside: InsideOptions, invocation: Invocation): SandboxTools => {
  const ask = (call: SandboxCall, waitMs?: number): Promise<AskedOutcome> =>
    askInside(inside, invocation, { ...call, waitMs });
  return {
    call: async (call) => {
      const outcome = await ask(call);
      return outcome.status === 'running' ? { status: 'lost', message: 'it still runs' } : outcome;
    },
    callFor: (call) => ask(call, call.waitMs),
    cancel: (sandbox, callKey) =>
      invocation.call(`cancel ${callKey}`, () => inside.ecs.reach(sandbox.address)?.cancel(callKey)),
  };
};

const askInside = (
  inside: InsideOptions,
  invocation: Invocation,
  { sandbox, callKey, onProgress, signal, waitMs }: SandboxCall & { readonly waitMs: number | undefined },
): Promise<AskedOutcome> => {
  const { sim } = invocation;
  const cancel = (): void => {
    sim.after(sim.latency(), () => inside.ecs.reach(sandbox.address)?.cancel(callKey));
  };
  signal?.addEventListener('abort', cancel, { once: true });
  return new Promise<AskedOutcome>((resolve) => {
    const hear = (outcome: AskedOutcome): void =>
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
        const machine = opened(inside, invocation, sandbox);
        if (!machine.knows(callKey)) inside.relays.used(invocation, sandbox);
        machine.ask(callKey, hear, waitMs);
      } catch (error) {
        const unsent = error instanceof UnsentError ? { isUnsent: true as const } : {};
        hear({ status: 'lost', message: String(error), ...unsent });
      }
    });
  });
};

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
  compare: () => Promise.reject(new Error('nothing is tried here')),
  apply: () => Promise.reject(new Error('nothing is tried here')),
  remove: (workspace, objects) =>
    invocation.call(`delete objects of ${workspace}`, () => {
      if (invocation.sim.fires('storageDeletesPart')) throw unavailable('the bucket refused a deletion');
      inside.bucket.removeObjects(workspace, objects);
    }),
  forget: (...given) =>
    invocation.call(`forget the files of ${given[0]}`, () => forget(inside, invocation.sim, given)),
});
