import { expect, test } from 'vitest';
import type { Session } from '../../../domain/session.ts';
import type { ToolCall } from '../../../domain/turn/tool-call.ts';
import type { TurnState } from '../../../domain/turn/turn.ts';
import type { InboxMessage } from '../../../ports/inbox.ts';
import type { LogFields } from '../../../ports/telemetry.ts';
import { type CommittedStep, recordStep } from './record-step.ts';

const session = { id: 's', project: 'p', provider: 'demo', model: 'demo' } as unknown as Session;
const message = { messageId: 'm', acceptedAt: 1000 } as InboxMessage;

const deciding = (callId: string): TurnState =>
  ({
    kind: 'deciding',
    calls: [{ callId, status: 'pending' } as unknown as ToolCall],
  }) as unknown as TurnState;
const thinking = { kind: 'thinking' } as TurnState;
const done = { kind: 'done' } as TurnState;

const noted = (committed: Pick<CommittedStep, 'before' | 'step'> & Partial<CommittedStep>) => {
  const metrics: [string, number][] = [];
  const lines: LogFields[] = [];
  const ignore = (): void => undefined;
  const telemetry = {
    info: (_: string, fields: LogFields = {}) => void lines.push(fields),
    warn: ignore,
    error: ignore,
    count: (name: string, value = 1) => void metrics.push([name, value]),
    duration: (name: string, value: number) => void metrics.push([name, value]),
  };
  recordStep(telemetry, { session, at: 1500, completed: message, ...committed });
  return { metrics, lines };
};

const completion = (stopReason: string, sessionCostUsd: number) =>
  ({ type: 'completion', data: { turnId: 't', stopReason, text: '', usage: {}, sessionCostUsd } }) as never;

test('a pending call is published once, and again when the next one is pending', () => {
  const asked = (callId: string) => ({ event: 'approval_asked', sessionId: 's', callId });
  const over = (callId: string) => ({ event: 'approval_over', sessionId: 's', callId });
  expect(noted({ before: thinking, step: { state: deciding('a'), log: [] } })).toEqual({
    metrics: [['ApprovalsAsked', 1]],
    lines: [asked('a')],
  });
  expect(noted({ before: deciding('a'), step: { state: deciding('b'), log: [] } })).toEqual({
    metrics: [['ApprovalsAsked', 1]],
    lines: [over('a'), asked('b')],
  });
  expect(noted({ before: deciding('a'), step: { state: deciding('a'), log: [] } })).toEqual({
    metrics: [],
    lines: [],
  });
});

test('a cancelled turn removes the pending approval of its call', () => {
  const { lines } = noted({
    before: deciding('a'),
    step: { state: done, log: [completion('cancelled', 0)] },
  });
  expect(lines).toMatchObject([
    { event: 'approval_over', callId: 'a' },
    { event: 'turn_ended', stopReason: 'cancelled', durationMs: 500, messageId: 'm' },
  ]);
});

test('a failed turn records its code and the session’s cost so far', () => {
  const failure = { type: 'agent:error', data: { code: 'provider_unavailable', message: 'no' } } as never;
  const step = { state: done, log: [failure, completion('error', 0.25)] };
  const { metrics, lines } = noted({ before: thinking, step });
  expect(metrics).toEqual([
    ['TurnsFailed', 1],
    ['TurnDurationMs', 500],
  ]);
  expect(lines).toMatchObject([{ event: 'turn_ended', code: 'provider_unavailable', sessionCostUsd: 0.25 }]);
});

test('a failed tool of a successful turn is not an error of the turn', () => {
  const failure = {
    type: 'agent:error',
    data: { code: 'execution_timeout', message: 'no', callId: 'a' },
  } as never;
  const { metrics, lines } = noted({
    before: thinking,
    step: { state: done, log: [failure, completion('end_turn', 0)] },
  });
  expect(metrics).toEqual([['TurnDurationMs', 500]]);
  expect(lines[0]).toMatchObject({ stopReason: 'end_turn', code: undefined });
});
