import { describe, expect, test } from 'vitest';
import type { EffectRule } from '../effect-rule.ts';
import type { CallId, MessageId, SessionId, TurnId, WorkspaceId } from '../ids.ts';
import { toolIdentity } from '../requested-call.ts';
import type { Grant } from './grant.ts';
import { judgeDecision } from './judge-decision.ts';
import { pendingWork } from './pending-work.ts';
import { reduce } from './reduce.ts';
import type { TurnCall } from './tool-call.ts';
import type { TriedCall } from './trial.ts';
import type { Thinking, TurnEvent, TurnState } from './turn.ts';
import { callToTry, triedBefore, waitingCall } from './waiting-call.ts';

const limits = { stepsMax: 5, callsMax: 8, usdMax: 1 };
const noUsage = { inputTokens: 0, outputTokens: 0 };
const thinking: Thinking = {
  ...{ kind: 'thinking', turnId: 'turn' as TurnId, messageId: 'm' as MessageId, step: 1, usage: noUsage },
  ...{ spentUsd: 0, policy: { mode: 'effect', grants: [] } },
};
const asked = (callId: string, name = 'execute_command'): TurnCall => ({
  ...{ callId: callId as CallId, name, args: { command: 'ls' }, digest: `digest of ${callId}` },
  askedAt: '2026-01-01T00:00:00.000Z',
});
const answer = (...calls: TurnCall[]): TurnEvent => ({
  ...{
    type: 'model-answered',
    at: 1,
    step: 1,
    messageId: 'a' as MessageId,
    text: '',
    calls,
    end: 'tool_use',
  },
  ...{ usage: noUsage, costUsd: 0 },
});
const session = 'trial' as SessionId;
const tried: TriedCall = {
  ...{
    state: 'tried',
    session,
    workspace: 'fork' as WorkspaceId,
    live: 'base',
    effectDigest: 'e'.repeat(64),
  },
  effect: { files: [], exitCode: 0, output: '', hosts: [], durationMs: 1 },
  outcome: { content: [], text: 'done', durationMs: 1 },
};
const started = (callId: string): TurnEvent => ({
  type: 'trial-started',
  at: 2,
  callId: callId as CallId,
  session,
});
const ended = (callId: string): TurnEvent => ({
  type: 'trial-ended',
  at: 3,
  callId: callId as CallId,
  trial: tried,
});
const outdated = (callId: string): TurnEvent => ({ type: 'trial-outdated', at: 5, callId: callId as CallId });
const approved = (callId: string): TurnEvent => ({
  ...{
    type: 'call-decided',
    at: 4,
    callId: callId as CallId,
    approved: true,
    by: { kind: 'token', id: 't' },
  },
});
const after = (state: TurnState, ...events: TurnEvent[]) =>
  events.reduce((step, event) => reduce(step.state, event, limits), {
    ...reduce(state, events[0] as TurnEvent, limits),
    state,
  });
const types = (state: TurnState) => pendingWork(state).map(({ type }) => type);

describe('a call that is asked by its effect', () => {
  test('is tried before it waits for a person, by one trial that its successor knows of', () => {
    const first = after(thinking, answer(asked('c1')));
    expect([types(first.state), waitingCall(first.state)]).toEqual([['try-call'], undefined]);
    expect(first.log.map(({ type }) => type)).toEqual(['tool:call', 'system']);
    const begun = after(first.state, started('c1'));
    expect(pendingWork(begun.state)).toEqual([expect.objectContaining({ type: 'try-call', session })]);
    const over = after(begun.state, ended('c1'));
    expect(types(over.state)).toEqual([]);
    expect(over.log).toEqual([
      expect.objectContaining({
        type: 'tool:approval_required',
        data: expect.objectContaining({
          callId: 'c1',
          effect: tried.effect,
          effectDigest: tried.effectDigest,
        }),
      }),
    ]);
    expect(after(over.state, ended('c1')).ignored).toBeDefined();
  });

  test('is approved only by the digest of its effect, and not with other arguments', () => {
    const { state } = after(thinking, answer(asked('c1')), ended('c1'));
    const judge = (decision: object) =>
      judgeDecision(state, { callId: 'c1', approved: true, ...decision }, () => false);
    const conflict = { refusal: expect.objectContaining({ code: 'conflict' }) };
    expect(judge({})).toEqual(conflict);
    expect(judge({ effectDigest: 'f'.repeat(64) })).toEqual(conflict);
    expect(judge({ approved: false })).toHaveProperty('call');
    expect(judge({ effectDigest: tried.effectDigest })).toHaveProperty('call');
    expect(judge({ effectDigest: tried.effectDigest, args: {} })).toEqual({
      refusal: expect.objectContaining({ code: 'invalid_request' }),
    });
  });

  test('is applied, and not run, once it is approved', () => {
    const { state } = after(thinking, answer(asked('c1')), ended('c1'), approved('c1'));
    expect(pendingWork(state)).toEqual([expect.objectContaining({ type: 'run-tool', tried })]);
  });

  test('is tried and asked again where its result is outdated, before and after the decision', () => {
    const waiting = after(thinking, answer(asked('c1')), ended('c1'));
    const again = after(waiting.state, outdated('c1'));
    expect([again.state.kind, types(again.state)]).toEqual(['deciding', ['try-call']]);
    const decided = after(waiting.state, approved('c1'), outdated('c1'));
    expect([decided.state.kind, types(decided.state)]).toEqual(['deciding', ['try-call']]);
  });

  test('is tried behind the approved calls before it, and never behind a later one', () => {
    const ofSecond = { ...tried, workspace: 'fork of c2' as WorkspaceId };
    const first = after(thinking, answer(asked('c1'), asked('c2')), ended('c1'), approved('c1'));
    expect(triedBefore(first.state)).toEqual(tried);
    const second = { ...ended('c2'), trial: ofSecond } as TurnEvent;
    const both = after(first.state, second, approved('c2'));
    const again = after(both.state, outdated('c1'));
    expect(callToTry(again.state)?.callId).toBe('c1');
    expect(triedBefore(again.state)).toBeUndefined();
  });

  test('is tried no more once a grant has approved it', () => {
    const identity = toolIdentity(asked('c2'));
    const by = { kind: 'token' as const, id: 't' };
    const grant: Grant = { id: 'g', tool: 'execute_command', identity, by, at: 4 };
    const queue = after(thinking, answer(asked('c1'), asked('c2'), asked('c3', 'write_file')), ended('c1'));
    const { state } = after(queue.state, { ...approved('c1'), grant } as TurnEvent);
    expect(callToTry(state)?.callId).toBe('c3');
    expect(
      state.kind === 'deciding' && state.calls.map(({ status, trial }) => [status, trial?.state]),
    ).toEqual([
      ['approved', 'tried'],
      ['approved', undefined],
      ['pending', 'due'],
    ]);
  });

  test('fails as outdated where another call of its queue runs already', () => {
    const queue = after(
      thinking,
      answer(asked('c1'), asked('c2', 'execute_code')),
      ended('c1'),
      approved('c1'),
      approved('c2'),
    );
    const running: TurnEvent = { type: 'calls-started', at: 4, callIds: ['c2' as CallId], generation: 1 };
    const failed = after(queue.state, running, outdated('c1'));
    expect(failed.state).toMatchObject({
      kind: 'acting',
      calls: [{ status: 'failed' }, { status: 'executing' }],
    });
  });

  test('is asked at once where it has no trial, with the reason', () => {
    const { state, log } = after(thinking, answer(asked('c1', 'execute_code')));
    expect(types(state)).toEqual([]);
    expect(log.at(-1)?.data).toMatchObject({
      callId: 'c1',
      effectMissing: expect.stringContaining('interpreter'),
    });
  });
});

describe('a rule over effects', () => {
  const ruled = (...rules: EffectRule[]): Thinking => ({
    ...thinking,
    policy: { mode: 'effect', grants: [], effects: { rules } },
  });
  const changing = (path: string): TriedCall => ({
    ...tried,
    effect: { ...tried.effect, files: [{ path, change: 'modified', bytes: 1, type: 'file' }] },
  });
  const endedWith = (
    callId: string,
    trial: Extract<TurnEvent, { type: 'trial-ended' }>['trial'],
  ): TurnEvent => ({
    type: 'trial-ended',
    at: 3,
    callId: callId as CallId,
    trial,
  });
  const inSource = ruled({ verdict: 'refuse', touches: ['.git'] }, { verdict: 'approve', within: ['src'] });

  test('approves a call that nobody is asked about, and has what was tried applied', () => {
    const over = after(inSource, answer(asked('c1')), endedWith('c1', changing('src/a')));
    expect(over.log).toMatchObject([
      {
        type: 'tool:decided',
        data: { callId: 'c1', approved: true, by: { kind: 'policy', id: 'effect rule 2' } },
      },
    ]);
    expect(pendingWork(over.state)).toEqual([
      expect.objectContaining({ type: 'run-tool', tried: changing('src/a') }),
    ]);
  });

  test('refuses one, and tells the model why', () => {
    const over = after(inSource, answer(asked('c1')), endedWith('c1', changing('.git/config')));
    expect(over.log.map(({ type }) => type)).toEqual(['tool:decided', 'tool:rejected']);
    expect(over.history).toMatchObject([{ outcome: 'rejected', text: expect.stringContaining('rule 1') }]);
    expect(over.state.kind).toBe('thinking');
  });

  test.each<[what: string, trial: Extract<TurnEvent, { type: 'trial-ended' }>['trial']]>([
    ['that no rule fits', changing('docs/a')],
    ['that was not tried', { state: 'untried', reason: 'no slot' }],
  ])('leaves a call %s to a person', (_what, trial) => {
    const over = after(inSource, answer(asked('c1')), endedWith('c1', trial));
    expect(over.log.map(({ type }) => type)).toEqual(['tool:approval_required']);
    expect(waitingCall(over.state)?.callId).toBe('c1');
  });

  test('leaves a call to a person where its turn has no slot to go on with', () => {
    const event = { ...endedWith('c1', changing('src/a')), asks: true } as TurnEvent;
    const over = after(inSource, answer(asked('c1')), event);
    expect(waitingCall(over.state)?.callId).toBe('c1');
  });

  test('leaves a call to a person by its own word', () => {
    const over = after(ruled({ verdict: 'ask' }, { verdict: 'approve' }), answer(asked('c1')), ended('c1'));
    expect(waitingCall(over.state)?.callId).toBe('c1');
  });

  test('decides each call of a queue by itself: the next is tried behind one that it approves', () => {
    const first = after(inSource, answer(asked('c1'), asked('c2')), endedWith('c1', changing('src/a')));
    expect([first.state.kind, types(first.state)]).toEqual(['deciding', ['try-call']]);
    const second = after(first.state, started('c2'), endedWith('c2', changing('docs/b')));
    expect(waitingCall(second.state)?.callId).toBe('c2');
  });

  test('approves no call a second time, when the workspace moved beneath the first', () => {
    const first = after(inSource, answer(asked('c1')), endedWith('c1', changing('src/a')), outdated('c1'));
    expect([first.state.kind, types(first.state)]).toEqual(['deciding', ['try-call']]);
    const second = after(first.state, started('c1'), endedWith('c1', changing('src/a')));
    expect(waitingCall(second.state)?.callId).toBe('c1');
    const refused = after(first.state, started('c1'), endedWith('c1', changing('.git/x')));
    expect(refused.state.kind).toBe('thinking');
  });
});

test('a tool is decided by its effect, where the mode of the session is another', () => {
  const policy = { mode: 'auto' as const, grants: [], effects: { tools: ['write_file' as const] } };
  const { state } = after({ ...thinking, policy }, answer(asked('c1'), asked('c2', 'write_file')));
  expect(state.kind === 'deciding' && state.calls.map(({ status, trial }) => [status, trial])).toEqual([
    ['approved', undefined],
    ['pending', { state: 'due' }],
  ]);
});
