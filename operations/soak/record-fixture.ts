/** A record in which everything holds; tests put one fault into it. */
import type { SessionRecord, SoakRecord } from './record.ts';

export const wholeSession: SessionRecord = {
  ...{ id: 's-1', work: 'turns' },
  sent: [
    { messageId: 'm-1', marks: ['a'] },
    { messageId: 'm-2', marks: [], refused: ['b'] },
  ],
  asked: [
    { mark: 'c', outcome: 'ran' },
    { mark: 'd', outcome: 'unknown' },
  ],
  events: [
    { index: 0, type: 'message', data: { role: 'user', messageId: 'm-1' } },
    { index: 1, type: 'tool:call', data: { callId: 'call-1', args: { command: 'echo a' } } },
    { index: 2, type: 'tool:output', data: { callId: 'call-1' } },
    { index: 3, type: 'message', data: { role: 'assistant', messageId: 'm-1a' } },
    { index: 4, type: 'completion', data: { turnId: 't-1', stopReason: 'end_turn' } },
    { index: 5, type: 'message', data: { role: 'user', messageId: 'm-2' } },
    { index: 6, type: 'completion', data: { turnId: 't-2', stopReason: 'error' } },
  ],
  frames: [
    ...[
      'message',
      'tool:call',
      'tool:output',
      'tool:output',
      'message',
      'completion',
      'message',
      'completion',
    ],
  ].map((type, place) => ({ seq: place > 2 ? place - 1 : place, type })),
  workspaceMarks: ['a', 'c'],
  sharedMarks: ['a', 'c'],
  files: [{ path: 'kept', wanted: 'text', found: 'text' }],
  processes: [{ lines: 2, text: 'line 1\nline 2\n', isLost: false }],
};

const minuteMs = 60_000;

export const wholeRecord: SoakRecord = {
  sessions: [wholeSession],
  failed: [],
  delivered: [
    { id: 'd-1', type: 'turn_completed', sessionId: 's-1', turnId: 't-1' },
    { id: 'd-1', type: 'turn_completed', sessionId: 's-1', turnId: 't-1' },
    { id: 'd-2', type: 'turn_failed', sessionId: 's-1', turnId: 't-2' },
  ],
  schedules: [
    {
      ...{ id: 'c-1', from: 10, to: 2 * minuteMs + 5 },
      runs: [1, 2].map((minute) => ({
        ...{ runAt: new Date(minute * minuteMs).toISOString(), status: 'success', trigger: 'schedule' },
      })),
    },
  ],
  items: 20,
  left: [],
  host: {
    before: { processes: 5, ports: 8, folders: 0 },
    after: { processes: 5, ports: 8, folders: 0 },
  },
  samples: [0, 1, 2, 3].map((minute) => ({ minute, memoryMb: 300, descriptors: 400, latencyMs: 1000 })),
};
