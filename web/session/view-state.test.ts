import { describe, expect, test } from 'vitest';
import { SallyportError } from '#sdk/errors.ts';
import type { Frame } from '#sdk/frames.ts';
import {
  initialState,
  isBudgetSpent,
  isRepeatable,
  isSocketBlocked,
  linkOf,
  reduce,
  type ViewEvent,
  type ViewState,
} from './view-state.ts';

const at = '2026-11-21T00:00:00.000Z';
/** A frame of the log as it comes from the wire: its ids are plain text there. */
const logged = (seq: number | null, type: string, data: object): ViewEvent => ({
  type: 'frame-received',
  frame: { type, seq, at, data } as unknown as Frame,
});
const after = (...events: readonly ViewEvent[]): ViewState => events.reduce(reduce, initialState);

const ready = logged(null, 'system:ready', {
  provider: 'demo',
  model: 'demo',
  sessionId: 's1',
  status: 'idle',
  lastSeq: -1,
});
const question = logged(0, 'message', { messageId: 'm1', role: 'user', text: 'hello' });
const thought = (offset: number, text: string) =>
  logged(null, 'reasoning_delta', { messageId: 'a1', offset, text });
const delta = (offset: number, text: string) => logged(null, 'delta', { messageId: 'a1', offset, text });
const answered = logged(1, 'message', { messageId: 'a1', role: 'assistant', text: 'Hello, you.' });
const completed = (seq: number, stopReason = 'end_turn') =>
  logged(seq, 'completion', {
    turnId: 't',
    stopReason,
    text: '',
    usage: { inputTokens: 3, outputTokens: 4 },
  });
const called = (seq: number, callId: string) =>
  logged(seq, 'tool:call', { callId, name: 'execute_command', args: { command: 'ls' } });
const approvalRequested = (seq: number, callId: string, queuePosition: number) =>
  logged(seq, 'tool:approval_required', {
    turnId: 't',
    digest: 'd1',
    askedAt: at,
    callId,
    name: 'execute_command',
    args: { command: 'ls' },
    queuePosition,
    totalInQueue: 2,
  });
const call = (seq: number, callId: string, fields: object) => ({
  kind: 'call',
  id: `event-${seq}`,
  callId,
  name: 'execute_command',
  args: { command: 'ls' },
  argsCutSeq: null,
  request: null,
  decided: null,
  childSession: null,
  status: 'requested',
  decision: null,
  queue: null,
  live: { chunks: [], bytes: { stdout: 0, stderr: 0 } },
  content: null,
  problem: null,
  cutSeq: null,
  durationMs: null,
  ...fields,
});

describe('thoughts', () => {
  const whole = logged(1, 'reasoning', { messageId: 'a1', text: 'let me see' });
  const item = { kind: 'thoughts', id: 'thoughts-a1', text: 'let me see', stream: null };
  const answer = logged(2, 'message', { messageId: 'a1', role: 'assistant', text: 'Hi' });
  const kinds = (state: ViewState) => state.items.map(({ kind }) => kind);

  test('stream, and are replaced by the log', () => {
    const streaming = after(thought(0, 'let '), thought(4, 'me'), delta(0, 'H'));
    expect(streaming.items[0]).toMatchObject({ kind: 'thoughts', text: 'let me', isOver: true });
    expect(after(thought(0, 'let ')).items[0]).not.toHaveProperty('isOver');
    const complete = [whole, answer].reduce(reduce, streaming);
    expect(complete.items).toEqual([item, { kind: 'answer', id: 'a1', text: 'Hi', stream: null }]);
    expect(reduce(complete, thought(0, 'let '))).toEqual(complete);
  });

  test('stand before their answer, whatever was seen first', () => {
    expect(kinds(after(delta(0, 'H'), whole, answer))).toEqual(['thoughts', 'answer']);
  });

  test('of a call that was made again are dropped with its answer', () => {
    const again = logged(null, 'reasoning_delta', { messageId: 'a0', offset: 0, text: 'lost' });
    expect(after(again, thought(0, 'let'), whole, answer).items.map(({ id }) => id)).toEqual([
      'thoughts-a1',
      'a1',
    ]);
  });
});

test('a ready frame names provider and model', () => {
  expect(after(ready).session).toEqual({
    provider: 'demo',
    model: 'demo',
    sessionId: 's1',
    status: 'idle',
    tools: [],
    mcpServers: [],
  });
});

test('a failed turn is repeatable until it is repeated, or another message comes', () => {
  const failed = after(question, completed(1, 'error'), logged(2, 'system', { kind: 'history_reset' }));
  expect(isRepeatable(failed)).toBe(true);
  const retried = reduce(failed, logged(3, 'system', { kind: 'turn_retried', messageId: 'm1' }));
  expect([isRepeatable(retried), retried.openQuestions]).toEqual([false, 1]);
  expect(isRepeatable(reduce(retried, completed(4)))).toBe(false);
  expect(
    isRepeatable(reduce(failed, logged(3, 'message', { messageId: 'm2', role: 'user', text: 'x' }))),
  ).toBe(false);
  expect(isRepeatable(after(question, completed(1)))).toBe(false);
});

test('a budget is spent until another message comes, also once it was changed', () => {
  const spent = after(question, completed(1, 'budget_exceeded'));
  const changed = reduce(spent, logged(2, 'system', { kind: 'budget_changed', maxCostUsd: 2 }));
  const asked = reduce(changed, logged(3, 'message', { messageId: 'm2', role: 'user', text: 'x' }));
  expect([spent, changed, asked].map(isBudgetSpent)).toEqual([true, true, false]);
  expect(isRepeatable(spent)).toBe(false);
});

describe('a question', () => {
  const sent: ViewEvent = { type: 'question-sent', messageId: 'm1', text: 'hello' };

  test('is shown at once, and accepted when the log has it', () => {
    expect(after(sent).items).toEqual([{ kind: 'question', id: 'm1', text: 'hello', delivery: 'sending' }]);
    const state = after(sent, question);
    expect(state.items).toEqual([{ kind: 'question', id: 'm1', text: 'hello', delivery: 'accepted', at }]);
    expect(state.openQuestions).toBe(1);
  });

  test('takes its position from the log', () => {
    const state = after(sent, logged(0, 'system', { kind: 'history_reset' }), question);
    expect(state.items.map(({ id }) => id)).toEqual(['event-0', 'm1']);
  });

  test('that is refused is marked as refused', () => {
    const refused = logged(null, 'error', { error: { code: 'too_many_requests', message: 'wait' } });
    expect(after(sent, refused).items).toEqual([
      {
        ...{ kind: 'question', id: 'm1', text: 'hello', delivery: 'refused' },
        refusal: { code: 'too_many_requests', message: 'wait', suggestions: [] },
      },
    ]);
  });

  test('is not marked because of a refused approval', () => {
    const refused = logged(null, 'error', {
      error: { code: 'no_pending_tool_call', message: 'No matching' },
    });
    expect(after(sent, refused).items).toMatchObject([
      { delivery: 'sending' },
      { kind: 'failure', id: `refusal-${at}-1`, code: 'no_pending_tool_call' },
    ]);
  });

  test('is open until its completion', () => {
    expect(after(question, completed(1)).openQuestions).toBe(0);
    expect(after(completed(1)).openQuestions).toBe(0);
  });
});

describe('an answer', () => {
  const texts = (state: ViewState) => state.items.map((item) => ('text' in item ? item.text : item.kind));

  test('grows by deltas in any order, and is replaced by the whole', () => {
    expect(texts(after(delta(0, 'Hel'), delta(5, ', y')))).toEqual(['Hel']);
    expect(texts(after(delta(0, 'Hel'), delta(5, ', y'), delta(3, 'lo')))).toEqual(['Hello, y']);
    expect(after(delta(0, 'Hel'), answered).items).toEqual([
      { kind: 'answer', id: 'a1', text: 'Hello, you.', stream: null },
    ]);
  });

  test('that broke off says so', () => {
    const cut = { messageId: 'a1', role: 'assistant', text: 'Hel', partial: true };
    expect(after(delta(0, 'Hel'), logged(1, 'message', cut)).items).toMatchObject([
      { kind: 'answer', text: 'Hel', stream: null, isPartial: true },
    ]);
  });

  test('is awaited again after a fault that passes, until anything comes', () => {
    const wait = (attempt: number) =>
      logged(null, 'system', {
        ...{ kind: 'model_retry', code: 'provider_overloaded', message: 'busy', provider: 'anthropic' },
        ...{ attempt, retryAt: at },
      });
    expect(after(wait(1), wait(2)).items).toMatchObject([
      { kind: 'retry', message: 'busy', provider: 'anthropic', attempt: 2, retryAt: at },
    ]);
    expect(texts(after(wait(1), delta(0, 'Hel')))).toEqual(['Hel']);
    const failed = logged(1, 'agent:error', {
      ...{ code: 'provider_overloaded', message: 'busy', provider: 'anthropic', attempt: 4 },
    });
    expect(after(wait(1), failed).items).toMatchObject([
      { kind: 'failure', origin: { provider: 'anthropic', attempt: 4 } },
    ]);
  });

  test('that is whole takes no more deltas', () => {
    expect(after(answered, delta(11, '!'))).toEqual(after(answered));
  });

  test('that was cut off is dropped when another one is whole', () => {
    const other = logged(1, 'message', { messageId: 'a2', role: 'assistant', text: 'Again.' });
    expect(texts(after(delta(0, 'Hel'), other))).toEqual(['Again.']);
    expect(texts(after(delta(0, 'Hel'), completed(1)))).toEqual(['end']);
  });
});

describe('a call', () => {
  test('is shown in its position for a decision', () => {
    expect(after(called(0, 'c1'), approvalRequested(1, 'c1', 1)).items).toEqual([
      call(0, 'c1', {
        status: 'waiting',
        request: { turnId: 't', digest: 'd1', askedAt: at, isCut: false },
        queue: { position: 1, total: 2 },
      }),
    ]);
  });

  test('of an agent in the sandbox is shown as what the agent asks, which the digest is of', () => {
    const asked = logged(1, 'tool:approval_required', {
      ...{ turnId: 't', digest: 'd1', askedAt: at, callId: 'c1', queuePosition: 1, totalInQueue: 1 },
      ...{ name: 'edit', args: { filepath: 'a' }, advisory: true },
    });
    expect(after(called(0, 'c1'), asked).items).toMatchObject([
      { name: 'edit', args: { filepath: 'a' }, status: 'waiting', request: { advisory: true } },
    ]);
  });

  test.each(['argsTruncated', 'truncated'])('whose frame has %s is marked as truncated', (mark) => {
    const cut = logged(1, 'tool:approval_required', {
      turnId: 't',
      digest: 'd1',
      askedAt: at,
      callId: 'c1',
      name: 'execute_command',
      args: { command: 'l' },
      queuePosition: 1,
      totalInQueue: 1,
      [mark]: true,
    });
    expect(after(called(0, 'c1'), cut).items).toMatchObject([
      { args: { command: 'l' }, request: { digest: 'd1', isCut: true } },
    ]);
  });

  test('has its decider, decision and time', () => {
    const by = { kind: 'token', id: '0123456789ab', name: 'ci' };
    const decided = (fields: object) =>
      logged(2, 'tool:decided', {
        turnId: 't',
        callId: 'c1',
        name: 'execute_command',
        by,
        digest: 'd1',
        ...fields,
      });
    const requested = [called(0, 'c1'), approvalRequested(1, 'c1', 1)];
    expect(after(...requested, decided({ approved: false, reason: 'not now' })).items).toMatchObject([
      { status: 'rejected', decided: { isApproved: false, by, at, reason: 'not now', editedArgs: null } },
    ]);
    expect(
      after(...requested, decided({ approved: true, editedDigest: 'd2', editedArgs: { command: 'pwd' } }))
        .items,
    ).toMatchObject([
      {
        status: 'approved',
        args: { command: 'ls' },
        decided: { isApproved: true, by, at, reason: null, editedArgs: { command: 'pwd' } },
      },
    ]);
  });

  test('can be decided again when the decision did not count', () => {
    const state = after(
      called(0, 'c1'),
      approvalRequested(1, 'c1', 1),
      { type: 'call-decided', itemId: 'event-0', decision: { approved: true } },
      { type: 'call-undecided', itemId: 'event-0' },
    );
    expect(state.items[0]).toMatchObject({ status: 'waiting', decision: null });
  });

  test('is decided once', () => {
    const state = after(
      called(0, 'c1'),
      approvalRequested(1, 'c1', 1),
      { type: 'call-decided', itemId: 'event-0', decision: { approved: true } },
      { type: 'call-decided', itemId: 'event-0', decision: { approved: false } },
    );
    expect(state.items[0]).toMatchObject({ status: 'waiting', decision: { approved: true } });
  });

  test('was approved when the next one is pending', () => {
    const state = after(
      called(0, 'c1'),
      called(1, 'c2'),
      approvalRequested(2, 'c1', 1),
      approvalRequested(3, 'c2', 2),
    );
    expect(state.items).toMatchObject([{ status: 'approved' }, { status: 'waiting' }]);
  });

  test('can be decided again after a reconnection, since the decision may be lost', () => {
    const decided: ViewEvent = { type: 'call-decided', itemId: 'event-0', decision: { approved: true } };
    const state = after(called(0, 'c1'), approvalRequested(1, 'c1', 1), decided, ready);
    expect(state.items[0]).toMatchObject({ status: 'waiting', decision: null });
  });

  test('shows its output while it runs, and its result when it is done', () => {
    const progress = logged(null, 'tool:progress', {
      callId: 'c1',
      stream: 'stdout',
      offset: 0,
      text: 'a\n',
    });
    const running = after(called(0, 'c1'), progress);
    expect(running.items[0]).toMatchObject({
      status: 'running',
      live: { chunks: [{ stream: 'stdout', text: 'a\n' }] },
    });
    const content = [{ type: 'text', text: 'a\nb\n' }, { type: 'image' }];
    const done = reduce(
      running,
      logged(1, 'tool:output', { callId: 'c1', name: 'x', content, durationMs: 12 }),
    );
    expect(done.items[0]).toMatchObject({ status: 'done', content, durationMs: 12 });
    expect(reduce(done, progress)).toEqual(done);
  });

  test('that failed has the reason; a failure without a call is separate', () => {
    const failure = { code: 'tool_outcome_unknown', message: 'Tool x failed: not found' };
    expect(after(called(0, 'c1'), logged(1, 'agent:error', { ...failure, callId: 'c1' })).items).toEqual([
      call(0, 'c1', { status: 'failed', problem: failure }),
    ]);
    expect(after(logged(0, 'agent:error', failure)).items).toEqual([
      { kind: 'failure', id: 'event-0', ...failure, suggestions: [] },
    ]);
  });

  test('of a later turn may have the id of an earlier one', () => {
    const rejected = logged(2, 'tool:rejected', { callId: 'c1', name: 'execute_command' });
    expect(after(called(0, 'c1'), called(1, 'c1'), rejected).items).toMatchObject([
      { status: 'requested' },
      { status: 'rejected' },
    ]);
  });

  test('that this page never saw is ignored', () => {
    expect(after(logged(4, 'tool:rejected', { callId: 'c9', name: 'x' }))).toEqual(initialState);
  });
});

test('events of the sandbox are recorded', () => {
  const started = logged(0, 'system', { kind: 'sandbox_started', startMs: 412, source: 'cold' });
  const stopped = logged(1, 'system', { kind: 'sandbox_stopped', reason: 'out of memory' });
  expect(after(started, stopped).items).toEqual([
    { kind: 'note', id: 'event-0', text: 'Sandbox ready in 412 ms', at },
    { kind: 'note', id: 'event-1', text: 'Sandbox stopped: out of memory', at },
  ]);
});

test('a status of the session is stored', () => {
  const ended = logged(0, 'system', { kind: 'session_status', status: 'completed' });
  expect(after(ready, ended).session?.status).toBe('completed');
});

test('a completion has its stop reason and usage', () => {
  expect(after(completed(7, 'cancelled')).items).toEqual([
    {
      ...{ kind: 'end', id: 'event-7', stopReason: 'cancelled', inputTokens: 3, outputTokens: 4, costUsd: 0 },
      at,
    },
  ]);
});

test('a frame of an unknown kind changes nothing', () => {
  expect(after(logged(0, 'from_the_future', {}), logged(1, 'system', { kind: 'handover' }))).toEqual(
    initialState,
  );
});

test('the log has the cost of a session, and each turn its share', () => {
  const ended = (seq: number, sessionCostUsd: number) =>
    logged(seq, 'completion', {
      turnId: 't',
      stopReason: 'end_turn',
      text: '',
      usage: { inputTokens: 10, outputTokens: 5 },
      sessionCostUsd,
    });
  const state = after(ended(0, 0.25), ended(1, 0.75));
  expect(state.usage).toEqual({ inputTokens: 20, outputTokens: 10, costUsd: 0.75 });
  expect(state.items).toMatchObject([{ costUsd: 0.25 }, { costUsd: 0.5 }]);

  const cut = after({ type: 'events-lost', oldestSeq: 7 }, ended(8, 12.4), ended(9, 12.5));
  expect(cut.items.slice(1)).toMatchObject([{ costUsd: 0 }, { costUsd: expect.closeTo(0.1) }]);
});

test('no call is pending when its turn has ended', () => {
  const state = after(called(0, 'c1'), approvalRequested(1, 'c1', 1), completed(2, 'cancelled'));
  expect(state.items).toMatchObject([{ kind: 'call', status: 'ended', decision: null }, { kind: 'end' }]);
});

test('the state of the sandbox follows the log', () => {
  const started = logged(0, 'system', { kind: 'sandbox_started', startMs: 412, source: 'pool' });
  expect(after(started).sandbox).toEqual({ kind: 'ready', startMs: 412, source: 'pool' });
  const stopped = logged(1, 'system', { kind: 'sandbox_stopped', reason: 'idle', savedAt: at });
  expect(after(started, stopped).sandbox).toEqual({ kind: 'stopped', reason: 'idle', savedAt: at });
});

describe('a child session', () => {
  const fromChild = (type: string, data: object): ViewEvent => ({
    type: 'frame-received',
    frame: { type, seq: null, sessionId: 'child', at, data } as unknown as Frame,
  });
  const requested = {
    callId: 'c1',
    name: 'execute_command',
    args: { command: 'ls' },
    queuePosition: 1,
    totalInQueue: 1,
  };
  const waits = fromChild('tool:approval_required', requested);
  const own = approvalRequested(1, 'c1', 1);

  test('has its calls decided here, apart from a call of the same id here', () => {
    const state = after(ready, called(0, 'c1'), own, waits, waits);
    expect(state.items).toMatchObject([
      { id: 'event-0', childSession: null, status: 'waiting' },
      { id: 'child-child-c1', childSession: 'child', status: 'waiting' },
    ]);
    const decided = reduce(state, { type: 'child-call-decided', itemId: 'child-child-c1' });
    expect(decided.items).toMatchObject([{ id: 'event-0', status: 'waiting' }]);
  });

  test('has them removed after another decision or the end of its turn', () => {
    const later = fromChild('tool:approval_required', { ...requested, callId: 'c2' });
    const settled = (callId?: string) => fromChild('system', { kind: 'child_settled', callId });
    const ids = (...events: readonly ViewEvent[]) => after(ready, ...events).items.map(({ id }) => id);
    expect(ids(waits, settled('other'))).toEqual(['child-child-c1']);
    expect(ids(waits, settled('c1'))).toEqual([]);
    expect(ids(waits, settled())).toEqual([]);
    expect(ids(waits, later)).toEqual(['child-child-c2']);
  });

  test('shows nothing else here', () => {
    const childDelta = fromChild('delta', { messageId: 'm', offset: 0, text: 'x' });
    expect(after(ready, childDelta)).toEqual(after(ready));
  });
});

test('a turn whose end is among events that were lost is over', () => {
  const lost: ViewEvent = { type: 'events-lost', oldestSeq: 2000 };
  const next = logged(2000, 'message', { messageId: 'm2', role: 'user', text: 'again' });
  const open = after(ready, question, lost, next);
  expect([after(ready, question).openQuestions, open.openQuestions]).toEqual([1, 1]);
  expect(reduce(open, completed(2001)).openQuestions).toBe(0);
});

test('a turn that goes on is open although its beginning is among events that were lost', () => {
  const running = logged(null, 'system:ready', { sessionId: 's1', status: 'running', lastSeq: 2001 });
  const lost: ViewEvent = { type: 'events-lost', oldestSeq: 2000 };
  const cut = after(running, lost, called(2000, 'c1'));
  expect([cut.openQuestions, reduce(cut, completed(2001)).openQuestions]).toEqual([1, 0]);
  // One that began after them is the only one.
  const next = logged(2000, 'message', { messageId: 'm2', role: 'user', text: 'again' });
  const whole = after(running, lost, next);
  expect([whole.openQuestions, reduce(whole, completed(2001)).openQuestions]).toEqual([1, 0]);
  const twice = after(running, lost, completed(2000), next);
  expect([twice.openQuestions, reduce(twice, completed(2002)).openQuestions]).toEqual([1, 0]);
});

test('a call of before lost events is not asked about any more, and has its result all the same', () => {
  const lost: ViewEvent = { type: 'events-lost', oldestSeq: 2000 };
  const cut = after(ready, question, called(1, 'c1'), approvalRequested(2, 'c1', 1), lost);
  expect(cut.items).toMatchObject([{}, { kind: 'call', status: 'ended', decision: null }, { kind: 'note' }]);
  const output = logged(2000, 'tool:output', { callId: 'c1', content: [], durationMs: 1 });
  expect(reduce(cut, output).items[1]).toMatchObject({ kind: 'call', status: 'done' });
});

test('a socket that does not open where the server answers is blocked after some tries, and a connection by requests is told', () => {
  const lost = { kind: 'lost', failures: 5, nextAt: 1, isBlocked: true, isBusy: false } as const;
  expect([isSocketBlocked(lost, true), isSocketBlocked(lost, false)]).toEqual([true, false]);
  expect(isSocketBlocked({ ...lost, failures: 1 }, true)).toBe(false);
  expect(isSocketBlocked({ ...lost, isBlocked: false }, true)).toBe(false);
  expect(linkOf({ ...lost, failures: 1 }, true).kind).toBe('reconnecting');
  expect(linkOf(lost, false).kind).toBe('offline');
  expect(linkOf({ kind: 'connected' }, true, true)).toEqual({ kind: 'polled' });
});

test('a connection says whether the browser, the server or its rate keeps it away', () => {
  const lost = { kind: 'lost', failures: 5, nextAt: 1, isBlocked: false, isBusy: false } as const;
  expect(linkOf(lost, false)).toEqual({ kind: 'offline', isServer: false, nextAt: 1 });
  expect(linkOf(lost, true)).toEqual({ kind: 'offline', isServer: true, nextAt: 1 });
  for (const failures of [1, 5])
    expect(linkOf({ ...lost, failures, isBusy: true }, true)).toEqual({ kind: 'busy', nextAt: 1 });
});

test('a connection that ended says why, and what a person can do', () => {
  const facts = { code: 'provider_not_configured', message: 'm', suggestions: ['s'] };
  const link = linkOf({ kind: 'ended', error: new SallyportError(0, facts) }, true);
  expect(link).toEqual({ kind: 'stopped', code: facts.code, reason: 'm', suggestions: ['s'] });
});
