/** The audit sees one deliberate fault of each kind that it claims to see, in its own line and in no other. */
import { expect, test } from 'vitest';
import { checkRecord } from './check-record.ts';
import type { SessionRecord, SoakRecord } from './record.ts';
import { wholeRecord, wholeSession } from './record-fixture.ts';

const failedLines = (record: SoakRecord): readonly string[] =>
  checkRecord(record)
    .filter(({ problems }) => problems.length > 0)
    .map(({ name }) => name);

const inSession = (change: Partial<SessionRecord>): SoakRecord => ({
  ...wholeRecord,
  sessions: [{ ...wholeSession, ...change }],
});

const { events, frames = [], sent } = wholeSession;
const without = (index: number): SessionRecord['events'] =>
  events.filter((event) => event.index !== index).map((event, place) => ({ ...event, index: place }));
const run = wholeRecord.schedules[0]?.runs[0] ?? { runAt: '', status: '', trigger: '' };
const schedule = (runs: SoakRecord['schedules'][number]['runs']): SoakRecord => ({
  ...wholeRecord,
  schedules: wholeRecord.schedules.map((one) => ({ ...one, runs })),
});
const runs = wholeRecord.schedules[0]?.runs ?? [];
const lastMinute = (change: object): SoakRecord => ({
  ...wholeRecord,
  samples: wholeRecord.samples.map((sample) => (sample.minute === 3 ? { ...sample, ...change } : sample)),
});
const hostAfter = (change: object): SoakRecord => ({
  ...wholeRecord,
  host: { before: wholeRecord.host.before, after: { ...wholeRecord.host.after, ...change } },
});

const answered = 'each message is answered once';
const numbered = 'events have no gap and no repetition';
const shown = 'people who come back see every event';
const marked = 'each tool that ran left one mark';
const filed = 'files are there';
const printed = 'output of processes is whole';
const delivered = 'each event reaches the receiver';
const scheduled = 'a schedule runs once at each due time';
const onHost = 'nothing is left on the host';

test('a record in which everything holds is clean', () => {
  expect(failedLines(wholeRecord)).toEqual([]);
});

test.each<readonly [string, SoakRecord, readonly string[]]>([
  [
    'work that ended by an error',
    { ...wholeRecord, failed: [{ work: 'turns', error: 'refused' }] },
    ['work ends as it should'],
  ],
  ['a lost message', inSession({ sent: [...sent, { messageId: 'm-3', marks: [] }] }), [answered]],
  [
    'a message that was taken twice',
    inSession({ events: [...events, ...without(0).slice(4)].map((event, index) => ({ ...event, index })) }),
    [answered, shown],
  ],
  ['a message without an answer', inSession({ events: without(4) }), [answered, shown, delivered]],
  [
    'a second answer',
    inSession({
      events: [...events, { index: 7, type: 'completion', data: { turnId: 't-2', stopReason: 'error' } }],
    }),
    [answered, shown],
  ],
  [
    'a gap in the numbers',
    inSession({
      events: events.map((event) => ({ ...event, index: event.index + (event.index > 5 ? 1 : 0) })),
    }),
    [numbered, shown],
  ],
  ['a repeated event', inSession({ events: [...events.slice(0, 3), ...events.slice(2)] }), [numbered, shown]],
  ['an event that was never shown', inSession({ frames: frames.filter(({ seq }) => seq !== 5) }), [shown]],
  [
    'a frame that is not in the log',
    inSession({ frames: frames.map((one) => ({ ...one, type: one.seq === 5 ? 'egress' : one.type })) }),
    [shown],
  ],
  ['a tool that ran twice', inSession({ sharedMarks: ['a', 'a', 'c'] }), [marked]],
  ['a tool that left nothing', inSession({ sharedMarks: ['c'] }), [marked]],
  ['a command that left nothing', inSession({ sharedMarks: ['a'] }), [marked]],
  [
    'a refused tool that ran',
    inSession({ sharedMarks: ['a', 'b', 'c'], workspaceMarks: ['a', 'b', 'c'] }),
    [marked],
  ],
  [
    'a mark of nobody',
    inSession({ sharedMarks: ['a', 'c', 'z'], workspaceMarks: ['a', 'c', 'z'] }),
    [marked],
  ],
  ['a call without an end', inSession({ events: without(2), frames: [] }), [marked, shown]],
  ['a change of a saved turn that is gone', inSession({ workspaceMarks: ['c'] }), [filed]],
  ['a change that was made twice', inSession({ workspaceMarks: ['a', 'a', 'c'] }), [filed]],
  [
    'a file with another content',
    inSession({ files: [{ path: 'kept', wanted: 'text', found: '' }] }),
    [filed],
  ],
  [
    'a lost line of a process',
    inSession({ processes: [{ lines: 2, text: 'line 2\n', isLost: false }] }),
    [printed],
  ],
  [
    'a repeated line of a lost process',
    inSession({ processes: [{ lines: 3, text: 'line 1\nline 1\n', isLost: true }] }),
    [printed],
  ],
  ['a lost delivery', { ...wholeRecord, delivered: wholeRecord.delivered.slice(0, 2) }, [delivered]],
  [
    'a delivery under a second id',
    { ...wholeRecord, delivered: wholeRecord.delivered.map((one, place) => ({ ...one, id: `d-${place}` })) },
    [delivered],
  ],
  [
    'a delivery of what never happened',
    {
      ...wholeRecord,
      delivered: [
        ...wholeRecord.delivered,
        { id: 'd-3', type: 'turn_failed', sessionId: 's-1', turnId: 't-1' },
      ],
    },
    [delivered],
  ],
  ['a run that did not come', schedule(runs.slice(1)), [scheduled]],
  ['a run that came twice', schedule([...runs, run]), [scheduled]],
  [
    'a run at another time',
    schedule([...runs, { ...run, runAt: new Date(90_000).toISOString() }]),
    [scheduled],
  ],
  ['a run without an end', schedule(runs.map((one) => ({ ...one, status: 'running' }))), [scheduled]],
  [
    'an item that is left',
    { ...wholeRecord, left: [{ kind: 'a slot', key: 'SLOTS# SLOT#' }] },
    ['nothing is left in the table'],
  ],
  ['a process that is left', hostAfter({ processes: 6 }), [onHost]],
  ['a port that is left', hostAfter({ ports: 9 }), [onHost]],
  ['a folder that is left', hostAfter({ folders: 1 }), [onHost]],
  ['memory that grows', lastMinute({ memoryMb: 500 }), ['memory stays']],
  ['open files that grow', lastMinute({ descriptors: 700 }), ['open files stay']],
  ['turns that get slower', lastMinute({ latencyMs: 5000 }), ['latency stays']],
])('%s fails its line', (_, record, lines) => {
  expect(failedLines(record).toSorted()).toEqual(lines.toSorted());
});

test('what the log says to be lost is no fault', () => {
  const said = { index: 3, type: 'system', data: { kind: 'sandbox_stopped' } };
  const lost = events.map((event) => (event.index === 3 ? said : event));
  const record = inSession({ events: lost, frames: [], workspaceMarks: ['c'] });
  expect(failedLines(record)).toEqual([shown]);
});

const ofMinutes = (descriptors: readonly number[]): SoakRecord => ({
  ...wholeRecord,
  samples: descriptors.map((open, minute) => ({ minute, memoryMb: 300, descriptors: open, latencyMs: 1000 })),
});

test('one minute that has few or many decides nothing, and a steady growth by half does', () => {
  expect(failedLines(ofMinutes([90, 200, 310, 290, 300, 320, 280, 300, 290, 350]))).toEqual([]);
  const growing = Array.from({ length: 60 }, (_, minute) => 200 + (120 * minute) / 60);
  expect(failedLines(ofMinutes(growing))).toEqual(['open files stay']);
});

test('the same growth is not judged before there is a third minute', () => {
  const samples = lastMinute({ memoryMb: 500 }).samples.filter(({ minute }) => minute !== 1 && minute !== 2);
  expect(
    failedLines({
      ...wholeRecord,
      samples: samples.map((one) => ({ ...one, minute: Math.min(one.minute, 1) })),
    }),
  ).toEqual([]);
});
