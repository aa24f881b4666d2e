/** The sandbox that a session asks for: its size, its slot, the slices that pay for it, and what its programs get. */
import type { Flavor } from '../../domain/flavor.ts';
import type { SessionId, WorkspaceId } from '../../domain/ids.ts';
import type { Payers } from '../../domain/sandbox-meter.ts';
import { payersOf, type Session, type SessionKind } from '../../domain/session.ts';
import type { EnvironmentRef } from '../../domain/session-environment.ts';
import { slotSessionOf } from '../../domain/session-slot.ts';
import type { Slot } from '../../domain/slot.ts';
import { type SlotHolder, slotHolderOf } from '../../domain/slot-holder.ts';
import type { Template } from '../../domain/template.ts';

export type SandboxRequest = {
  readonly workspaceId: WorkspaceId;
  /** The slot under which it counts. */
  readonly slot: {
    readonly kind: SessionKind;
    readonly holder: SlotHolder;
    readonly session: SessionId;
    /** As the session's record has it. */
    readonly known: Slot;
  };
  /** The slices that pay for its time; absent: none. */
  readonly payers?: Payers | undefined;
  /** Seconds to wait for a slot; absent: none. */
  readonly slotWaitSeconds?: number | undefined;
  /** An idle sandbox gives way, whatever the operator's setting. */
  readonly evictsIdle?: boolean | undefined;
  readonly flavor: Flavor;
  readonly template: Template;
  /** True when the next smaller flavor suffices when there is no capacity. */
  readonly allowSmallerFlavor: boolean;
  /** Its sandbox is stopped this long after it became ready, in milliseconds. */
  readonly lifetimeMs?: number | undefined;
  readonly environment?: EnvironmentRef | undefined;
  readonly cwd?: string | undefined;
  /** A call is tried in it. */
  readonly isTrial?: true | undefined;
  /** It is started for a process: no other session's need takes it before that has begun. */
  readonly hasProcesses?: true | undefined;
  /** Its network is the sandbox's, and it has the events of connections that programs of the sandbox make now. */
  readonly sessionId: SessionId;
  /** Before each start: a wait for a slot, or for the end of the last sandbox, may outlast the idle time of its session. */
  readonly beforeStart?: () => Promise<void>;
  /** Aborts the wait for it: the signal's reason is thrown. */
  readonly signal?: AbortSignal;
  /** Receives the phases while the caller waits for it. */
  readonly onPhase?: (phase: string) => void;
};

/** The sandbox that a session starts. */
export const startedFor = (session: Session): SandboxRequest => {
  const { workspace: workspaceId, flavor, template, allowSmallerFlavor } = session;
  const { id: sessionId, kind, lifetimeMs, environment, cwd, trialOf, slot: known = {} } = session;
  return {
    ...{ workspaceId, flavor, template, allowSmallerFlavor, lifetimeMs, environment, cwd },
    ...{ sessionId, payers: payersOf(session) },
    ...(trialOf === undefined ? {} : { isTrial: true as const }),
    slot: { kind, holder: slotHolderOf(session), session: slotSessionOf(session), known },
  };
};
