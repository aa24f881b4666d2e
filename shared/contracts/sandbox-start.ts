/** The report about a sandbox that has just become ready: for the log, the agent and a program. */

import type { Missing } from '#shared/domain/checkpoint.ts';
import type { LogEntry } from '#shared/domain/event-log.ts';
import type { SandboxSource } from '#shared/domain/sandbox.ts';
import { cutMiddle } from '#shared/domain/text.ts';
import { iso } from './fields.ts';

export type Restored = {
  readonly files: number;
  /** Epoch milliseconds of the checkpoint. */
  readonly savedAt: number;
  readonly missing: readonly Missing[];
  /** The reason for which nothing was restored at all. */
  readonly refused?: string;
};

/** The volume that all sandboxes of an owner share, as it was at this start. */
export type RestoredShared = {
  readonly files: number;
  readonly missing: readonly Missing[];
  /** The reason for which nothing, or not everything, was restored. */
  readonly failed?: string;
};

export type SandboxStart = {
  readonly startMs: number;
  readonly source: SandboxSource;
  readonly generation: number;
  readonly restored?: Restored;
  readonly shared?: RestoredShared;
  /** The reason for which the sandbox before it ended by itself. */
  readonly lost?: string;
  /** Processes that ran in the background and ended with their sandbox. */
  readonly lostProcesses?: readonly LostProcess[];
};

export type LostProcess = { readonly id: string; readonly command: string };

/** Paths that one event or one notice names; the rest is counted. */
const pathsNamedMax = 20;

export const startEntries = ({ startMs, source, restored, shared }: SandboxStart): readonly LogEntry[] => [
  {
    type: 'system',
    data: {
      kind: 'sandbox_started',
      startMs,
      source,
      ...(restored === undefined ? {} : { restored: restored.files }),
    },
  },
  ...(restored === undefined ? [] : [restoredEntry(restored)]),
  ...(shared === undefined ? [] : [sharedEntry(shared)]),
];

const restoredEntry = ({ files, savedAt, missing, refused }: Restored): LogEntry => ({
  type: 'system',
  data: {
    kind: 'workspace_restored',
    files,
    savedAt: iso(savedAt),
    ...namesOf(missing),
    ...(refused === undefined ? {} : { refused }),
  },
});

const sharedEntry = ({ files, missing, failed }: RestoredShared): LogEntry => ({
  type: 'system',
  data: {
    kind: 'shared_restored',
    files,
    ...namesOf(missing),
    ...(failed === undefined ? {} : { failed }),
  },
});

const namesOf = (missing: readonly Missing[]) => ({
  missing: missing.slice(0, pathsNamedMax).map(({ path }) => path),
  ...(missing.length > pathsNamedMax ? { missingCount: missing.length } : {}),
});

/** The notice for the agent before it goes on; undefined when it lost nothing. */
export const startNotice = ({
  restored,
  shared,
  lost,
  lostProcesses = [],
}: SandboxStart): string | undefined => {
  const parts = [
    ...(lost === undefined
      ? []
      : [`The sandbox before this one was lost: ${lost}. Running programs were lost.`]),
    ...processesSentence(lostProcesses),
    ...(lost !== undefined && restored === undefined
      ? ['Nothing had been saved: the workspace is empty.']
      : []),
    ...(lost !== undefined && restored !== undefined
      ? [`Files are as they were at ${iso(restored.savedAt)}; later changes are lost.`]
      : []),
    ...(restored?.refused === undefined ? [] : [`The workspace could not be restored: ${restored.refused}.`]),
    ...(restored === undefined ? [] : missingSentence('These files did not come back', restored.missing)),
    ...(shared?.failed === undefined ? [] : [`The shared volume could not be restored: ${shared.failed}.`]),
    ...(shared === undefined
      ? []
      : missingSentence('These files of the shared volume did not come', shared.missing)),
  ];
  return parts.length === 0 ? undefined : `[${parts.join(' ')}]`;
};

/** Processes that one notice names, and the characters of each command. */
const processesNamedMax = 10;
const commandCharactersMax = 100;

const processesSentence = (lost: readonly LostProcess[]): readonly string[] => {
  if (lost.length === 0) return [];
  const named = lost
    .slice(-processesNamedMax)
    .map(({ id, command }) => `${id} (${cutMiddle(command.replaceAll(/\s+/g, ' '), commandCharactersMax)})`);
  const rest = lost.length - named.length;
  const others = rest > 0 ? ` and ${rest} more` : '';
  return [`These background processes ended with their sandbox: ${named.join(', ')}${others}.`];
};

const missingSentence = (what: string, missing: readonly Missing[]): readonly string[] => {
  if (missing.length === 0) return [];
  const named = missing.slice(0, pathsNamedMax).map(({ path, reason }) => `${path} (${reason})`);
  const rest = missing.length - named.length;
  return [`${what}: ${named.join(', ')}${rest > 0 ? ` and ${rest} more` : ''}.`];
};

/** `savedAt` is the time from which changes are lost; absent when nothing was ever saved. */
export const stoppedEntry = (
  reason: string,
  savedAt: number | undefined,
  lostProcesses: number = 0,
): LogEntry => ({
  type: 'system',
  data: {
    kind: 'sandbox_stopped',
    reason,
    ...(savedAt === undefined ? {} : { savedAt: iso(savedAt) }),
    ...(lostProcesses === 0 ? {} : { lostProcesses }),
  },
});

export const notSavedEntry = (reason: string, savedAt: number | undefined): LogEntry => ({
  type: 'system',
  data: { kind: 'workspace_not_saved', reason, ...(savedAt === undefined ? {} : { savedAt: iso(savedAt) }) },
});

export const sharedNotSavedEntry = (reason: string): LogEntry => ({
  type: 'system',
  data: { kind: 'shared_not_saved', reason },
});
