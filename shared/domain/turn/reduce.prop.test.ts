import fc from 'fast-check';
import { expect, test } from 'vitest';
import type { LogEntry } from '../event-log.ts';
import type { HistoryMessage } from '../history.ts';
import type { CallId, MessageId, TurnId } from '../ids.ts';
import { approvalModes } from '../session.ts';
import { distinctCalls } from './call-queue.ts';
import type { Grant } from './grant.ts';
import { pendingWork } from './pending-work.ts';
import { reduce } from './reduce.ts';
import type { CallStatus, ToolCall } from './tool-call.ts';
import type { Acting, TurnEvent, TurnLimits, TurnState } from './turn.ts';

const limits: TurnLimits = { stepsMax: 3, callsMax: 3, usdMax: 2 };
const usage = { inputTokens: 1, outputTokens: 1 };
const known = { usage, costUsd: 0.5 };
const idle: TurnState = { kind: 'idle' };

const callId = fc.constantFrom('c1', 'c2', 'c2-1', 'c3').map((text) => text as CallId);
const toolName = fc.constantFrom('shell', 'write');
const by = { kind: 'token', id: 'a token' } as const;
const grantOf = (tool: string): Grant => ({
  ...{ id: `grant of ${tool}`, tool, identity: JSON.stringify(['sandbox', tool]), by, at: 1 },
});
const placed = { digest: 'd', askedAt: 'then' };
const policy = fc.record({
  mode: fc.constantFrom(...approvalModes),
  grants: fc.subarray(['shell', 'write']).map((tools) => tools.map(grantOf)),
});
const asked = fc
  .record({ callId, name: toolName, args: fc.constant({}) })
  .map((call) => ({ ...call, ...placed }));

/** Any event at any time, from a world so small that ids meet. */
const anyEvent: fc.Arbitrary<TurnEvent> = fc.oneof(
  fc.record({
    type: fc.constant('started' as const),
    at: fc.nat(),
    turnId: fc.constantFrom('t1', 't2').map((text) => text as TurnId),
    message: fc.constant({ messageId: 'm' as MessageId, text: 'hello' }),
    policy,
    spentUsd: fc.constantFrom(0, 1, 2, 3),
  }),
  fc.record({
    type: fc.constant('model-answered' as const),
    at: fc.nat(),
    step: fc.integer({ min: 1, max: 4 }),
    messageId: fc.constant('a' as MessageId),
    text: fc.constantFrom('', 'hi'),
    calls: fc.uniqueArray(asked, { maxLength: 5, selector: (call) => call.callId }),
    end: fc.constantFrom(
      'end_turn' as const,
      'max_tokens' as const,
      'tool_use' as const,
      'tool_use' as const,
      'refused' as const,
    ),
    usage: fc.constant(usage),
    costUsd: fc.constantFrom(0, 0.5, 1),
  }),
  fc.record({
    type: fc.constant('model-failed' as const),
    at: fc.nat(),
    step: fc.integer({ min: 1, max: 4 }),
    code: fc.constantFrom('provider_unavailable', 'content_refused'),
    message: fc.string(),
  }),
  fc.record({
    type: fc.constant('budget-spent' as const),
    at: fc.nat(),
    step: fc.integer({ min: 1, max: 4 }),
  }),
  fc.record({
    type: fc.constant('call-decided' as const),
    at: fc.nat(),
    callId,
    approved: fc.boolean(),
    by: fc.constant(by),
  }),
  fc.record({
    type: fc.constant('call-decided' as const),
    at: fc.nat(),
    callId,
    approved: fc.constant(true),
    by: fc.constant(by),
    grant: toolName.map(grantOf),
  }),
  fc.record({
    type: fc.constant('grant-withdrawn' as const),
    at: fc.nat(),
    grantId: fc.constantFrom('grant of shell', 'grant of write'),
  }),
  fc.record({
    type: fc.constant('calls-started' as const),
    at: fc.nat(),
    callIds: fc.array(callId, { maxLength: 3 }),
    generation: fc.nat({ max: 3 }),
  }),
  fc.record({
    type: fc.constant('call-delegated' as const),
    at: fc.nat(),
    callId,
    wait: fc.record({ id: fc.string(), since: fc.nat(), until: fc.nat() }),
    log: fc.constant([]),
  }),
  fc.record({
    type: fc.constant('call-detached' as const),
    at: fc.nat(),
    callId,
    wait: fc.record({ id: fc.string(), since: fc.nat(), endsBy: fc.nat() }),
  }),
  fc.record({
    type: fc.constant('call-unsent' as const),
    at: fc.nat(),
    callId,
    generation: fc.nat({ max: 3 }),
  }),
  fc.record({
    type: fc.constant('call-finished' as const),
    at: fc.nat(),
    callId,
    content: fc.constant([]),
    text: fc.string(),
    durationMs: fc.nat(),
  }),
  fc.record({
    type: fc.constant('call-failed' as const),
    at: fc.nat(),
    callId,
    code: fc.constant('execution_timeout'),
    message: fc.string(),
  }),
  fc.record(
    { type: fc.constant('cancelled' as const), at: fc.nat(), known: fc.constant(known) },
    { requiredKeys: ['type', 'at'] },
  ),
);

/** An event that may follow a state, so that histories go deep; `place` makes turn and call ids that are never met again. */
const fitting = (state: TurnState, place: number, pick: number): TurnEvent => {
  const at = place;
  switch (state.kind) {
    case 'idle':
    case 'done':
      return {
        type: 'started',
        at,
        turnId: `turn-${place}` as TurnId,
        message: { messageId: 'm' as MessageId, text: 'hello' },
        policy: { mode: approvalModes[pick % 5] ?? 'ask', grants: [] },
        spentUsd: pick % 7 === 0 ? 2 : 0,
      };
    case 'thinking':
      if (pick === 58) return { type: 'budget-spent', at, step: state.step };
      if (pick === 57) return { type: 'cancelled', at, known };
      if (pick === 56)
        return {
          type: 'model-failed',
          at,
          step: state.step,
          code: 'provider_unavailable',
          message: 'no',
          known,
        };
      return {
        type: 'model-answered',
        at,
        step: state.step,
        messageId: `a-${place}` as MessageId,
        text: 'hi',
        calls: Array.from({ length: pick % 5 }, (_, index) => ({
          callId: `${place}:${index}` as CallId,
          name: index % 2 === 0 ? 'shell' : 'write',
          args: {},
          ...placed,
        })),
        end: 'tool_use',
        usage,
        costUsd: pick % 3 === 0 ? 1 : 0,
      };
    case 'deciding': {
      const waiting = firstOf(state.calls, ['pending']);
      const approved = pick % 3 > 0;
      const grant = approved && pick % 4 === 0 ? { grant: grantOf('shell') } : {};
      return { type: 'call-decided', at, callId: waiting, approved, by, ...grant };
    }
    case 'acting':
      return fittingResult(state, place, pick);
  }
};

const fittingResult = ({ calls }: Acting, place: number, pick: number): TurnEvent => {
  const callId = firstOf(calls, pick % 2 === 0 ? ['executing', 'approved'] : ['approved', 'executing']);
  if (pick % 4 === 3)
    return {
      type: 'call-delegated',
      at: place,
      callId,
      wait: { id: `${place}`, since: place, until: place },
      log: [],
    };
  if (pick % 5 === 4)
    return {
      type: 'call-detached',
      at: place,
      callId,
      wait: { id: `${place}`, since: place, endsBy: place },
    };
  const executing = calls.find((call) => call.callId === callId && call.status === 'executing');
  if (pick % 7 === 6 && executing?.generation !== undefined)
    return { type: 'call-unsent', at: place, callId, generation: executing.generation };
  if (pick % 3 === 0) return { type: 'calls-started', at: place, callIds: [callId], generation: place };
  return pick % 3 === 1
    ? { type: 'call-finished', at: place, callId, content: [], text: 'out', durationMs: 1 }
    : { type: 'call-failed', at: place, callId, code: 'internal_error', message: 'no' };
};

const firstOf = (
  calls: readonly { readonly callId: CallId; readonly status: string }[],
  statuses: readonly string[],
): CallId => calls.find(({ status }) => statuses.includes(status))?.callId ?? ('none' as CallId);

const runs = { numRuns: 400 };

type Taken = { readonly before: TurnState; readonly event: TurnEvent };
type Story = {
  state: TurnState;
  readonly log: LogEntry[];
  readonly history: HistoryMessage[];
  readonly taken: Taken[];
};

type Choice = { readonly isWild: boolean; readonly wild: TurnEvent; readonly pick: number };
type Look = (story: Story, step: Taken) => void;

const choices = (isWild: fc.Arbitrary<boolean>) =>
  fc.array(fc.record({ isWild, wild: anyEvent, pick: fc.nat({ max: 59 }) }), { minLength: 1, maxLength: 40 });
/** A fifth of the events may come at any time. */
const anyHistory = choices(fc.integer({ min: 0, max: 4 }).map((chance) => chance === 0));
/** Every event fits, and no id is met twice. */
const fittingHistory = choices(fc.constant(false));

/** Runs a history; `look` sees the story after each event. */
const tell = (history: readonly Choice[], look: Look): Story => {
  const story: Story = { state: idle, log: [], history: [], taken: [] };
  for (const [place, { isWild, wild, pick }] of history.entries()) {
    const before = story.state;
    const event = isWild ? wild : fitting(before, place, pick);
    const step = reduce(before, event, limits);
    story.state = step.state;
    story.log.push(...step.log);
    story.history.push(...step.history);
    if (step.ignored === undefined) story.taken.push({ before, event });
    look(story, { before, event });
  }
  return story;
};

const holds = (histories: fc.Arbitrary<Choice[]>, look: Look): void =>
  fc.assert(
    fc.property(histories, (history) => {
      tell(history, look);
    }),
    runs,
  );

/** Calls of the history that have no result; throws for a result that no call asked for. */
const openCalls = (history: readonly HistoryMessage[]): readonly CallId[] => {
  let open: readonly CallId[] = [];
  for (const message of history) {
    if (message.role === 'tool') {
      expect(open, 'a result follows its call, once').toContain(message.callId);
      open = open.filter((id) => id !== message.callId);
    } else {
      expect(open, 'the next message comes after every result').toEqual([]);
      open = message.role === 'assistant' ? message.calls.map((call) => call.callId) : [];
    }
  }
  return open;
};

const completions = (log: readonly LogEntry[]): number =>
  log.filter(({ type }) => type === 'completion').length;

test('in any history results belong to calls, and a thinking or resting turn has no open call (T10)', () => {
  holds(anyHistory, ({ state, history }) => {
    const waiting = 'calls' in state ? state.calls : [];
    const open = waiting.filter(({ status }) => ['pending', 'approved', 'executing'].includes(status));
    expect([...openCalls(history)].sort()).toEqual(open.map((call) => call.callId).sort());
  });
});

const isResting = ({ kind }: TurnState): boolean => kind === 'idle' || kind === 'done';

test('no model call is due once the money is spent, and the spent sum never decreases (T16)', () => {
  holds(anyHistory, ({ state }, { before, event }) => {
    if (state.kind === 'thinking' && state !== before) expect(state.spentUsd).toBeLessThan(2);
    if (!('spentUsd' in state && 'spentUsd' in before) || event.type === 'started') return;
    const cost = event.type === 'model-answered' && state !== before ? event.costUsd : 0;
    expect(state.spentUsd).toBe(before.spentUsd + cost);
  });
});

test('the last completion of a turn contains the cost of the session so far (T16)', () => {
  fc.assert(
    fc.property(fittingHistory, (history) => {
      let spent = 0;
      tell(history, ({ log }, { event, before }) => {
        if (event.type === 'started') spent = event.spentUsd;
        if (event.type === 'model-answered') spent += event.costUsd;
        if (event.type === 'model-failed' || event.type === 'cancelled') spent += event.known?.costUsd ?? 0;
        const last = log.at(-1);
        if (last?.type === 'completion' && !isResting(before)) expect(last.data.sessionCostUsd).toBe(spent);
      });
    }),
    runs,
  );
});

test('each started turn completes exactly once, and its completion is its last entry (T8)', () => {
  fc.assert(
    fc.property(anyHistory, (history) => {
      let turns = 0;
      tell(history, ({ state, log }, { before }) => {
        if (isResting(before) && state !== before) turns += 1;
        expect(completions(log)).toBe(isResting(state) ? turns : turns - 1);
        if (state.kind === 'done') expect(log.at(-1)?.type).toBe('completion');
      });
    }),
    runs,
  );
});

test('an ended turn stays ended until another starts (T8)', () => {
  holds(anyHistory, ({ state }, { before, event }) => {
    if (before.kind !== 'done') return;
    const isAnother = event.type === 'started' && event.turnId !== before.turnId;
    if (!isAnother) expect(state).toBe(before);
    else if (event.spentUsd >= 2)
      expect(state).toEqual({ kind: 'done', turnId: event.turnId, stopReason: 'budget_exceeded' });
    else expect(state).toMatchObject({ kind: 'thinking', turnId: event.turnId });
  });
});

test('an event delivered twice in a row is ignored the second time (T9)', () => {
  holds(anyHistory, ({ state }, { event }) => {
    const again = reduce(state, event, limits);
    expect(again).toEqual({ state, log: [], history: [], ignored: expect.any(String) });
    expect(again.state).toBe(state);
  });
});

test('where call ids never repeat, a repeated event is ignored in the rest of its turn (T9)', () => {
  fc.assert(
    fc.property(fittingHistory, (history) => {
      const story = tell(history, () => undefined);
      const begun = story.taken.findLastIndex(({ event }) => event.type === 'started');
      const taken = story.taken.slice(begun);
      // A call that was not sent may start again: its start is fenced by the version alone.
      const isUnsent = taken.some(({ event }) => event.type === 'call-unsent');
      for (const { event } of taken.filter((one) => !isUnsent || one.event.type !== 'calls-started'))
        expect(reduce(story.state, event, limits).ignored, event.type).toEqual(expect.any(String));
    }),
    runs,
  );
});

const mayFollow: Record<CallStatus, readonly CallStatus[]> = {
  pending: ['approved', 'rejected'],
  // Back to a person, when the grant that allowed it is withdrawn.
  approved: ['pending', 'executing', 'completed', 'failed'],
  // Never started, since no byte of it was sent: once.
  executing: ['approved', 'completed', 'failed'],
  rejected: [],
  completed: [],
  failed: [],
};

const expectMoved = (was: ToolCall | undefined, call: ToolCall): void => {
  expect(was?.callId).toBe(call.callId);
  if (was === undefined || was.status === call.status) return;
  expect(mayFollow[was.status], `${was.status} -> ${call.status}`).toContain(call.status);
  if (call.status === 'approved' && was.status === 'executing') expect(was.unsent).toBeUndefined();
  else if (was.generation !== undefined) expect(call.generation).toBe(was.generation);
};

test('a call starts at most once, ends at most once, and never after a rejection (T11, T13)', () => {
  holds(anyHistory, ({ state }, { before }) => {
    if (!('calls' in before && 'calls' in state)) return;
    expect(state.calls).toHaveLength(before.calls.length);
    for (const [index, call] of state.calls.entries()) expectMoved(before.calls[index], call);
  });
});

const isEachHanded = ({ calls }: Acting): boolean =>
  calls
    .filter(({ status }) => status === 'approved' || status === 'executing')
    .every(({ wait }) => wait !== undefined);

test('work is pending exactly while a turn thinks or acts, under keys that never recur (T12)', () => {
  fc.assert(
    fc.property(fittingHistory, (history) => {
      const closed = new Set<string>();
      tell(history, ({ state }, { before }) => {
        const keys = pendingWork(state).map(({ key }) => key);
        const isOthers = state.kind === 'acting' && isEachHanded(state);
        expect(keys.length > 0).toBe((state.kind === 'thinking' || state.kind === 'acting') && !isOthers);
        expect(new Set(keys).size).toBe(keys.length);
        for (const { key } of pendingWork(before)) if (!keys.includes(key)) closed.add(key);
        expect(keys.filter((key) => closed.has(key))).toEqual([]);
      });
    }),
    runs,
  );
});

test('a turn makes at most as many model calls and queues as many tools as its limits allow (T1, T2)', () => {
  holds(anyHistory, ({ state }) => {
    if ('step' in state) expect(state.step).toBeLessThanOrEqual(3);
    if ('calls' in state) expect(state.calls.length).toBeLessThanOrEqual(3);
  });
});

test('however a provider repeats its ids, calls have ids different from each other and from earlier ones (T3)', () => {
  const ids = fc.array(fc.constantFrom('a', 'a-1', 'a-2', 'a-1-1', 'a-2-2', ''), {
    minLength: 1,
    maxLength: 8,
  });
  fc.assert(
    fc.property(ids, fc.subarray(['a', 'a-1', 'a-2']), (given, taken) => {
      const calls = given.map((text) => ({ callId: text as CallId, name: 'shell', args: {} }));
      const made = distinctCalls(calls, taken as CallId[]).map((call) => call.callId);
      expect(made).toHaveLength(given.length);
      expect(new Set(made).size).toBe(given.length);
      for (const [index, text] of given.entries())
        if (given.indexOf(text) === index && !taken.includes(text)) expect(made[index]).toBe(text);
      expect(made.filter((callId) => taken.includes(callId))).toEqual([]);
    }),
    runs,
  );
});

const freeze = (value: unknown): void => {
  if (typeof value !== 'object' || value === null || Object.isFrozen(value)) return;
  Object.freeze(value);
  for (const inner of Object.values(value)) freeze(inner);
};

test('reduce does not mutate its arguments', () => {
  holds(anyHistory, ({ state }, { before, event }) => {
    freeze(before);
    freeze(event);
    freeze(state);
    expect(() => reduce(before, event, limits)).not.toThrow();
  });
});
