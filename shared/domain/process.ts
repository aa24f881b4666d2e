/**
 * A process of a sandbox that outlives its request: its record, its state, and the time for which it keeps the sandbox.
 *
 * A record without an end, of a sandbox that no longer runs, is of a lost process.
 */
import type { SessionId, WorkspaceId } from './ids.ts';
import { firstProcessMs, processLookMs, processSecondsMax } from './limits.ts';
import type { SandboxRecord } from './sandbox.ts';

export type ProcessRecord = {
  readonly id: string;
  readonly workspace: WorkspaceId;
  /** Of the sandbox that it was started in. */
  readonly generation: number;
  readonly session: SessionId;
  readonly command: string;
  readonly isPty: boolean;
  /** Epoch milliseconds, as every time here. */
  readonly startedAt: number;
  readonly endedAt?: number;
  readonly exitCode?: number;
};

/** A process as its sandbox describes it. */
export type RunningProcess = {
  readonly state: 'running' | 'exited' | 'lost';
  readonly isPty: boolean;
  /** Readers that follow its output. */
  readonly attached: number;
};

/** The processes that end with this sandbox, as far as the records tell. */
export const lostWith = (records: readonly ProcessRecord[], generation: number): readonly ProcessRecord[] =>
  records.filter((record) => record.generation === generation && record.endedAt === undefined);

/** TW7. A terminal without a viewer is a shell that waits. */
const keepsSandbox = ({ state, isPty, attached }: RunningProcess): boolean =>
  state === 'running' && (!isPty || attached > 0);

/**
 * The time of the next look at a sandbox that its processes keep, or the one that it was started for and that has not begun yet;
 * undefined when none does, or its lifetime is over.
 */
export const keptUntil = (
  { readyAt, lifetimeMs = processSecondsMax * 1000 }: Pick<SandboxRecord, 'readyAt' | 'lifetimeMs'>,
  processes: readonly RunningProcess[],
  now: number,
): number | undefined => {
  const endsAt = (readyAt ?? now) + lifetimeMs;
  if (now >= endsAt) return undefined;
  if (processes.some(keepsSandbox)) return Math.min(endsAt, now + processLookMs);
  const beginsBy = Math.min(endsAt, (readyAt ?? now) + firstProcessMs);
  return processes.length === 0 && now < beginsBy ? beginsBy : undefined;
};
