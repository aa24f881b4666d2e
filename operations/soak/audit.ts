/** The audit of a soak: one line for each thing that must hold, decided from the record alone. */
import { deliveries } from './audit-deliveries.ts';
import { descriptors, host, latency, memory } from './audit-growth.ts';
import { schedules } from './audit-schedules.ts';
import { type Check, files, indices, messages, processes, sockets, tools } from './audit-sessions.ts';
import type { AuditLine, SoakRecord } from './record.ts';

const overSessions =
  (name: string, check: Check, countOf: (one: SoakRecord['sessions'][number]) => number) =>
  ({ sessions }: SoakRecord): AuditLine => ({
    name,
    checked: sessions.reduce((sum, session) => sum + countOf(session), 0),
    problems: sessions.flatMap((session) =>
      check(session).map((problem) => `${session.work} ${session.id}: ${problem}`),
    ),
  });

const lines: readonly ((record: SoakRecord) => AuditLine)[] = [
  ({ failed, sessions }) => ({
    name: 'work ends as it should',
    checked: sessions.length + failed.length,
    problems: failed.map(({ work, error }) => `${work}: ${error}`),
  }),
  overSessions('each message is answered once', messages, ({ sent }) => sent.length),
  overSessions('events have no gap and no repetition', indices, ({ events }) => events.length),
  overSessions('people who come back see every event', sockets, ({ frames = [] }) => frames.length),
  overSessions('each tool that ran left one mark', tools, ({ sharedMarks }) => sharedMarks.length),
  overSessions(
    'files are there',
    files,
    ({ workspaceMarks, files: seen }) => workspaceMarks.length + seen.length,
  ),
  overSessions('output of processes is whole', processes, ({ processes: seen }) => seen.length),
  deliveries,
  schedules,
  ({ left, items }) => ({
    name: 'nothing is left in the table',
    checked: items,
    problems: left.map(({ kind, key }) => `${kind}: ${key}`),
  }),
  host,
  memory,
  descriptors,
  latency,
];

export const auditOf = (record: SoakRecord): readonly AuditLine[] => lines.map((line) => line(record));
