/**
 * Holds the relay of a sandbox. While it does, the sandbox's programs reach the hosts that its network allows, the tools of the
 * platform and models, for as long as the sandbox needs them and this function lives.
 *
 * The sandbox decides who holds it, so two invocations do no harm. Before each answer of the sandbox its network and its
 * project are read again: access that was taken away ends within a slice, even on open connections. The function hands over
 * before its time is over, and to another session of the workspace when its own has ended; the connections that are open then
 * end with an error that says so. Invariants RL1, RL5, RL6 and EG4: docs/spec/relay.md.
 */

import type { RelayReset, RelayTarget } from '../../contracts/relay/frame.ts';
import { createRelayPeer, type RelayStream, type StreamSink } from '../../contracts/relay/peer.ts';
import type { SessionId } from '../../domain/ids.ts';
import { rulesOfBoth } from '../../domain/inject-rule.ts';
import { idleCheckUsersMax } from '../../domain/limits.ts';
import { relayMarginMs } from '../../domain/relay/limits.ts';
import type { LiveSandbox } from '../../domain/sandbox.ts';
import { isEnded } from '../../domain/session.ts';
import { AppError, isAppError } from '../../errors.ts';
import type { RelayWork } from '../../ports/invoker.ts';
import { brokerCall } from '../broker/broker-call.ts';
import type { RelayDeps } from '../deps.ts';
import { openEgressJournal } from './egress-journal.ts';
import { type EgressMeter, openEgressMeter } from './egress-meter.ts';
import { type EgressContext, openEgressStream, type Policies } from './egress-stream.ts';
import { createModelStreams } from './model-stream.ts';
import { openPlatformStream, type PlatformContext } from './platform-stream.ts';
import {
  claimRelay,
  openRelayExchange,
  type RelayExchange,
  releaseRelay,
  type SliceEnd,
} from './relay-exchange.ts';
import { type Injected, injectionFor } from './secret-headers.ts';

export type HoldWork = RelayWork & {
  /** Of the function, in epoch milliseconds. */
  readonly deadlineAt: number;
};

const failuresMax = 5;
const failurePauseMs = 300;
const quietMarginMs = 180_000;

export const holdRelay = async (ports: RelayDeps, work: HoldWork): Promise<void> => {
  const { world, relayIdleSeconds: idleSeconds } = ports;
  const found = await findSandbox(ports, work);
  if (found === undefined) return;
  const holder = world.uuid();
  const { sandbox } = found;
  if (!(await claimRelay(ports, sandbox, { holder, replaces: work.replaces, idleSeconds }))) return;
  ports.telemetry.info('a relay is held', { event: 'relay_held', workspaceId: work.workspaceId });
  const meter = await openEgressMeter(ports, work.sessionId);
  const held = openHeld(ports, work, { ...found, holder, meter });
  try {
    const end = await readAll(ports, work, held);
    if (end !== 'over') await handOver(ports, { ...work, sessionId: end.next }, held);
  } finally {
    await held.close();
  }
};

/** The sandbox ends what is open and lets new connections wait for the next holder. */
const handOver = async (ports: RelayDeps, work: HoldWork, held: Held): Promise<void> => {
  const { deadlineAt: _, ...next } = work;
  try {
    await held.release();
  } catch (error) {
    ports.telemetry.warn('a relay was not released: the next holder replaces it', { error });
  }
  await ports.relayStarter.holdRelay({ ...next, replaces: held.holder });
};

type Held = {
  readonly holder: string;
  readonly exchange: RelayExchange;
  readonly receive: (bytes: Uint8Array) => void;
  readonly setLists: (lists: Lists) => void;
  readonly openStreams: () => number;
  /** Ends every connection, in the sandbox too. */
  readonly resetAll: (reason: RelayReset) => Promise<void>;
  readonly storeUsage: () => Promise<void>;
  readonly release: () => Promise<void>;
  readonly close: () => Promise<void>;
};

/** As they were read before the last answer of the sandbox. */
type Lists = { readonly policies: Policies; readonly injected: Injected };

type Found = Lists & {
  readonly sandbox: LiveSandbox;
  /** Of its workspace. */
  readonly users: readonly SessionId[];
};

const openHeld = (
  ports: RelayDeps,
  work: HoldWork,
  { sandbox, holder, meter, ...first }: Found & { readonly holder: string; readonly meter: EgressMeter },
): Held => {
  let lists: Lists = first;
  const listeners = new Set<() => void>();
  const exchange = openRelayExchange(ports, { sandbox, holder });
  const journal = openEgressJournal(ports, work.sessionId);
  const context: EgressContext = {
    egress: ports.egress,
    policies: () => lists.policies,
    injection: (target) => {
      const found = injectionFor(ports, lists.injected, target);
      return found && { ...found, sandbox, hostStandIn: ports.hostStandIn };
    },
    onListsRead: (listener) => {
      listeners.add(listener);
      return () => listeners.delete(listener);
    },
    meter,
    onRecord: journal.add,
  };
  const { sessionId: session, workspaceId: workspace } = work;
  const { telemetry } = ports;
  const calls: PlatformContext = {
    telemetry,
    answer: ({ method, params = {} }, signal) =>
      ports.platformCalls.call({ session, workspace, method, params }, signal),
  };
  const { deadlineAt } = work;
  const models = createModelStreams({
    telemetry,
    call: (request) => brokerCall(ports, { ...request, session, workspace, deadlineAt }),
  });
  const openStream = (target: RelayTarget, stream: RelayStream): StreamSink => {
    switch (target.type) {
      case 'egress':
        return openEgressStream(context, target, stream);
      case 'platform':
        return openPlatformStream(calls, stream);
      case 'model':
        return models.open(stream);
    }
  };
  const peer = createRelayPeer({ send: exchange.push, onOpen: openStream });
  return {
    holder,
    exchange,
    receive: (bytes) => {
      try {
        peer.receive(bytes);
      } catch (cause) {
        throw new AppError('conflict', 'the frames of a sandbox break the rules of the relay', { cause });
      }
    },
    setLists: (next) => {
      lists = next;
      for (const listener of [...listeners]) listener();
    },
    openStreams: peer.openStreams,
    resetAll: async (reason) => {
      peer.resetAll(reason);
      await exchange.flush().catch(() => undefined);
    },
    release: () => releaseRelay(ports, sandbox, holder),
    close: async () => {
      peer.close({ status: 502, message: 'the relay was closed' });
      await Promise.all([models.settled(), journal.close()]);
      await meter.store();
    },
    storeUsage: meter.store,
  };
};

/** `next`: the session for which the relay is held from here. */
type End = 'over' | { readonly next: SessionId };

const readAll = async (ports: RelayDeps, work: HoldWork, held: Held): Promise<End> => {
  const { world, telemetry } = ports;
  let failures = 0;
  for (;;) {
    const end = await readSlice(held, telemetry);
    if (end === 'over' || held.exchange.isBroken()) return 'over';
    // A sandbox that answers is there, however often its answers are cut.
    failures = end === 'failed' ? failures + 1 : 0;
    if (failures > failuresMax) return 'over';
    if (end !== 'next') await world.sleep(failurePauseMs * Math.max(1, failures));
    await held.storeUsage();
    const again = await lookAgain(ports, work);
    if ('status' in again) {
      await held.resetAll(again);
      return 'over';
    }
    held.setLists(again.found);
    if (again.next !== work.sessionId || isTimeOver(work, held, world.now())) return again;
  }
};

/** All that may have changed during a slice, or the reason for which every connection ends. */
const lookAgain = async (
  ports: RelayDeps,
  work: HoldWork,
): Promise<{ readonly found: Found; readonly next: SessionId } | RelayReset> => {
  const found = await findSandbox(ports, work);
  if (found === undefined) return { status: 403, message: 'the sandbox of this relay is gone' };
  const next = await sessionAgain(ports, work, found);
  return next === undefined
    ? { status: 403, message: 'the session of this sandbox has ended' }
    : { found, next };
};

/** The session of this work, or another living one of its workspace once that has ended; undefined when all have. */
const sessionAgain = async (
  { sessions }: RelayDeps,
  { sessionId }: HoldWork,
  { users }: Found,
): Promise<SessionId | undefined> => {
  const hasEnded = async (id: SessionId): Promise<boolean> => {
    const session = await sessions.get(id);
    return session === undefined || isEnded(session.status);
  };
  const others = users.filter((id) => id !== sessionId).slice(0, idleCheckUsersMax);
  for (const id of [sessionId, ...others]) if (!(await hasEnded(id))) return id;
  return undefined;
};

const readSlice = async (
  { exchange, receive }: Held,
  telemetry: RelayDeps['telemetry'],
): Promise<SliceEnd> => {
  try {
    return await exchange.readSlice(receive);
  } catch (error) {
    telemetry.warn('a relay was not read to the end of a slice', { error });
    return isAppError(error) && error.code === 'sandbox_unavailable' ? 'failed' : 'over';
  }
};

/** Earlier while nothing is open, so that few connections end by it. */
const isTimeOver = ({ deadlineAt }: HoldWork, { openStreams }: Held, now: number): boolean =>
  deadlineAt - now < (openStreams() === 0 ? quietMarginMs : relayMarginMs);

/** The sandbox of this work, if it runs. */
const findSandbox = async (
  { workspaces, projects, egressCeiling }: RelayDeps,
  { workspaceId, generation }: HoldWork,
): Promise<Found | undefined> => {
  const workspace = await workspaces.get(workspaceId);
  const { sandbox } = workspace ?? {};
  if (workspace === undefined || sandbox?.generation !== generation || sandbox.state !== 'ready')
    return undefined;
  const { address, network, flavor } = sandbox;
  if (address === undefined) return undefined;
  const project = await projects.get(workspace.project);
  return {
    sandbox: { workspaceId: workspace.id, generation, address, flavor },
    users: workspace.users,
    policies: [network, project?.network, egressCeiling],
    injected: { project: workspace.project, rules: rulesOfBoth(network, project?.network) },
  };
};
