/**
 * Acquires the sandbox of a workspace: one start however many ask, everybody gets the same one.
 *
 * The table decides who starts it (`claimStart` is true once per generation); the rest wait for readiness,
 * bounded, and are then told `sandbox_starting`. A starter that died is repeated under the same token.
 */
import type { Flavor, Template } from '../domain/flavor.ts';
import type { WorkspaceId } from '../domain/ids.ts';
import { sandboxWaitMsMax } from '../domain/limits.ts';
import { acquireStep, type LiveSandbox, startToken, taskGroup } from '../domain/sandbox.ts';
import { AppError } from '../errors.ts';
import type { SandboxHost } from '../ports/sandbox-host.ts';
import type { SandboxLink } from '../ports/sandbox-link.ts';
import type { Telemetry } from '../ports/telemetry.ts';
import type { WorkspaceStore } from '../ports/workspace-store.ts';
import type { World } from '../ports/world.ts';

export type AcquirePorts = {
  readonly workspaces: WorkspaceStore;
  readonly host: SandboxHost;
  readonly link: SandboxLink;
  readonly telemetry: Telemetry;
  readonly world: World;
  /** SHA-256 of the bearer of one generation's sandbox. */
  readonly bearerHash: (workspaceId: WorkspaceId, generation: number) => string;
};

export type WantedSandbox = {
  readonly workspaceId: WorkspaceId;
  readonly flavor: Flavor;
  readonly template: Template;
};

export type AcquiredSandbox = {
  readonly sandbox: LiveSandbox;
  /** Given to exactly one caller: the one who says that the sandbox started. */
  readonly startMs?: number;
};

const pollMsMin = 20;
const pollMsMax = 1000;
/** A sandbox that dies while it starts is started again this often. */
const startsMax = 3;

export const acquireSandbox = async (
  ports: AcquirePorts,
  wanted: WantedSandbox,
): Promise<AcquiredSandbox> => {
  const deadline = ports.world.now() + sandboxWaitMsMax;
  let starts = 0;
  for (let pause = pollMsMin; ports.world.now() < deadline; pause = Math.min(pollMsMax, pause * 1.5)) {
    const attempt = await tryOnce(ports, wanted);
    if (typeof attempt === 'object') return attempt;
    if (attempt === 'started') starts += 1;
    if (starts > startsMax) throw startFailed('it stopped each time before it answered');
    await ports.world.sleep(pause);
  }
  throw new AppError('sandbox_starting', 'the sandbox is still starting', {
    suggestions: ['Try again in a few seconds.'],
    recoveryActions: ['wait_and_retry'],
  });
};

type Attempt = AcquiredSandbox | 'started' | 'not-yet';

const startFailed = (why: string): AppError =>
  new AppError('sandbox_start_failed', `the sandbox could not be started: ${why}`, {
    suggestions: ['Try again in a minute.'],
    recoveryActions: ['wait_and_retry'],
  });

const tryOnce = async (ports: AcquirePorts, wanted: WantedSandbox): Promise<Attempt> => {
  const { workspaceId } = wanted;
  const workspace = await ports.workspaces.get(workspaceId);
  if (workspace === undefined)
    throw new AppError('workspace_not_found', `workspace ${workspaceId} not found`);
  const next = acquireStep(workspace.sandbox, ports.world.now());
  const generation = workspace.sandbox?.generation ?? 0;
  const flavor = workspace.sandbox?.flavor ?? wanted.flavor;
  switch (next.step) {
    case 'use':
      return { sandbox: { workspaceId, generation, address: next.address, flavor } };
    case 'start':
      await start(ports, wanted, next.generation);
      return 'started';
    case 'reissue':
      await startTask(ports, wanted, next.generation);
      return 'not-yet';
    case 'probe':
      return probe(
        ports,
        { workspaceId, generation, address: next.address, flavor },
        workspace.sandbox?.requestedAt,
      );
    case 'give-up':
      await ports.workspaces.markStopping(workspaceId, generation, ports.world.now());
      throw startFailed('it did not become ready in time');
    case 'wait':
      return 'not-yet';
  }
};

const start = async (ports: AcquirePorts, wanted: WantedSandbox, generation: number): Promise<void> => {
  const { workspaceId, flavor, template } = wanted;
  const requestedAt = ports.world.now();
  const isMine = await ports.workspaces.claimStart(workspaceId, {
    generation,
    state: 'starting',
    flavor,
    template,
    requestedAt,
  });
  if (!isMine) return;
  ports.telemetry.count('SandboxStartsCold');
  await startTask(ports, wanted, generation);
};

const startTask = async (ports: AcquirePorts, wanted: WantedSandbox, generation: number): Promise<void> => {
  const { workspaceId, flavor, template } = wanted;
  try {
    const taskArn = await ports.host.start({
      token: startToken(workspaceId, generation),
      group: taskGroup(workspaceId, generation),
      flavor,
      template,
      bearerHash: ports.bearerHash(workspaceId, generation),
    });
    await ports.workspaces.noteTask(workspaceId, generation, taskArn);
  } catch (error) {
    ports.telemetry.count('SandboxStartsFailed');
    const stop = { reason: 'the start was refused', at: ports.world.now() };
    await ports.workspaces.markStopped(workspaceId, generation, stop);
    throw error;
  }
};

/** Asks the server inside once; the caller comes back when it does not answer yet. */
const probe = async (ports: AcquirePorts, sandbox: LiveSandbox, requestedAt = 0): Promise<Attempt> => {
  const isHealthy = await answersHealth(ports.link, sandbox);
  if (!isHealthy) return 'not-yet';
  const now = ports.world.now();
  if (!(await ports.workspaces.markReady(sandbox.workspaceId, sandbox.generation, now))) return 'not-yet';
  const startMs = now - requestedAt;
  ports.telemetry.duration('SandboxStartMs', startMs);
  return { sandbox, startMs };
};

const answersHealth = async (link: SandboxLink, sandbox: LiveSandbox): Promise<boolean> => {
  try {
    const response = await link.fetch(sandbox, { method: 'GET', path: '/health' });
    await response.body?.cancel();
    return response.status === 200;
  } catch {
    return false;
  }
};
