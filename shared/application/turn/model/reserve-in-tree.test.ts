/** Money of a tree: reserved before a model call, counted or released after one. */

import { describe, expect, test } from 'vitest';
import type { TreeStore } from '#shared/ports/trees.ts';
import { fake } from '../../../../tests/fake.ts';
import type { MessageId, SessionId } from '../../../domain/ids.ts';
import type { ModelRequest, TokenUsage } from '../../../domain/model.ts';
import { callTokensMax } from '../../../domain/price.ts';
import type { Session } from '../../../domain/session.ts';
import type { MoneyAnswer, ReservationRequest } from '../../../domain/tree-budget.ts';
import { spendOf } from '../../../domain/turn/session-after-step.ts';
import type { TurnEvent } from '../../../domain/turn/turn.ts';
import { releaseReservation, reserveAgain, reserveCall, withoutCalls } from './reserve-in-tree.ts';

const [root, own] = ['root', 'own'] as [SessionId, SessionId];
const lone = { id: own, provider: 'demo', lease: { holder: 'h', fence: 4, until: 0 } } as Session;
const child: Session = { ...lone, tree: { root, parent: root } };
const parent: Session = { ...lone, id: root, hasChildren: true };
const request: ModelRequest = { model: 'm', system: '', tools: [], history: [], outputTokensMax: 9 };

const whole: MoneyAnswer = { grantedUsd: 1 };
const granted = { request, usd: 1 };

type Options = {
  readonly answers?: readonly MoneyAnswer[];
  readonly price?: number;
  /** Absent: a call costs its price. */
  readonly costPerToken?: number;
  readonly onSleep?: () => void;
};

const open = ({ answers = [whole], price = 1, costPerToken, ...options }: Options = {}) => {
  const { onSleep = () => undefined } = options;
  const wishes: [SessionId, ReservationRequest][] = [];
  const released: [SessionId, object][] = [];
  const slept: number[] = [];
  const warned: string[] = [];
  const controller = new AbortController();
  const ports = {
    trees: fake<TreeStore>({
      reserve: (id: SessionId, options: ReservationRequest) => {
        wishes.push([id, options]);
        const answer = answers[wishes.length - 1];
        return answer === undefined ? Promise.reject(new Error('asked too often')) : Promise.resolve(answer);
      },
      release: (id: SessionId, of: object) => {
        released.push([id, of]);
        return Promise.reject(new Error('the table is away'));
      },
    }),
    costOf: (_provider: string, _model: string, { inputTokens, outputTokens }: TokenUsage) =>
      costPerToken === undefined ? price : costPerToken * (inputTokens + outputTokens),
    world: {
      now: () => 1000 + slept.length,
      uuid: () => '',
      sha256: () => '',
      sleep: (milliseconds: number) => {
        slept.push(milliseconds);
        onSleep();
        return Promise.resolve();
      },
    },
    telemetry: {
      info: () => undefined,
      warn: (message: string) => void warned.push(message),
      error: () => undefined,
      count: () => undefined,
      duration: () => undefined,
    },
  };
  const limits = { turn: { stepsMax: 1, callsMax: 1, usdMax: 7 } };
  const reserve = (session: Session, asked = request) =>
    reserveCall(ports, { context: { session, limits }, signal: controller.signal, deadlineAt: 9000 }, asked);
  return { ports, wishes, released, slept, warned, controller, reserve };
};

test('a session without a tree makes no reservation (TM5)', async () => {
  const { reserve, ports, wishes, released } = open();
  expect(await reserve(lone)).toEqual({ request, usd: 0 });
  await releaseReservation(ports, lone, { usd: 1 });
  expect([wishes, released]).toEqual([[], []]);
  expect(spendOf(lone, answered)).toBeUndefined();
});

test('a child and its root reserve the most that the call can cost, until their function ends', async () => {
  const { reserve, wishes } = open({ answers: [whole, whole] });
  expect([await reserve(child), await reserve(parent)]).toEqual([granted, granted]);
  const options = { session: own, fence: 4, usd: 1, usdMin: 1, usdMax: 7, at: 1000, until: 69_000, call: '' };
  expect(wishes).toEqual([
    [root, options],
    [root, { ...options, session: root }],
  ]);
});

test('an answer is bounded by what is left', async () => {
  const costOf = (_provider: unknown, _model: unknown, { outputTokens }: TokenUsage) => outputTokens;
  const { ports, reserve } = open({ answers: [{ grantedUsd: 4.5 }] });
  Object.assign(ports, { costOf });
  expect(await reserve(child)).toEqual({ request: { ...request, outputTokensMax: 4 }, usd: 4.5 });
});

test('the limit is that of the session, which is its tree’s', async () => {
  const { reserve, wishes } = open();
  await reserve({ ...child, limits: { costUsdMax: 3 } });
  expect(wishes[0]?.[1].usdMax).toBe(3);
});

test('the conversation is weighed once for a call of a tree, and not at all without one (TM5)', async () => {
  let weighed = 0;
  const text = {
    toJSON: () => {
      weighed += 1;
      return 'x'.repeat(1000);
    },
  };
  const history = [{ role: 'user' as const, messageId: 'm' as MessageId, text: text as unknown as string }];
  const long = { ...request, history, outputTokensMax: 4000 };
  const { reserve } = open({ answers: [{ grantedUsd: 5000 }], costPerToken: 1 });
  await reserve(lone, long);
  expect(weighed).toBe(0);
  expect(await reserve(child, long)).toMatchObject({ request: { outputTokensMax: expect.any(Number) } });
  expect(weighed).toBe(1);
});

test('a free call reserves nothing', async () => {
  const { reserve, wishes } = open({ price: 0 });
  expect(await reserve(child)).toEqual({ request, usd: 0 });
  expect(wishes).toEqual([]);
});

describe('in a slice', () => {
  const within: Session = { ...child, tree: { root, parent: root, slices: [own] } };
  // The sentence that no call of a tool is left is paid for before it is known to be needed.
  const longest = callTokensMax(withoutCalls(request));
  const most = longest.inputTokens + longest.outputTokens;

  test('a call reserves its tokens and the tools that it may ask for, even where it is free (TM8, TM9)', async () => {
    const { reserve, wishes } = open({ price: 0, answers: [{ grantedUsd: 0, tokens: most, toolCalls: 1 }] });
    expect(await reserve(within)).toEqual({ request, usd: 0, tokens: most, toolCallsMax: 1 });
    expect(wishes).toMatchObject([
      [root, { usd: 0, usdMin: 0, tokens: most, tokensMin: most, toolCalls: 1, slices: [own] }],
    ]);
  });

  test('an answer is bounded by the tokens that are left', async () => {
    const { reserve } = open({ answers: [{ ...whole, tokens: most - 5, toolCalls: 1 }] });
    expect(await reserve(within)).toMatchObject({ request: { outputTokensMax: 4 }, tokens: most - 5 });
  });

  test('a model without a call of a tool left is told so, and keeps its tools', async () => {
    const { reserve } = open({ answers: [{ ...whole, tokens: most, toolCalls: 0 }] });
    const told = { ...request, system: expect.stringContaining('has no tool calls left') };
    expect(await reserve(within)).toEqual({ request: told, usd: 1, tokens: most, toolCallsMax: 0 });
  });

  test('an answer reports its tokens and its calls, and a lost one the tokens that it may have taken', async () => {
    const { ports, released } = open();
    const calls = ['a', 'b', 'c'].map((callId) => ({ callId, name: 'n', args: {}, digest: '', askedAt: '' }));
    const asked = { ...answered, calls, toolCallsMax: 2 } as unknown as TurnEvent;
    expect(spendOf(within, asked)).toEqual({ root, usd: 0.5, slices: [own], tokens: 2, toolCalls: 2 });
    const lost = { ...failed, unsettledUsd: 0.25, unsettledTokens: 7 } as TurnEvent;
    expect(spendOf(within, lost)).toMatchObject({ slices: [own], unsettledUsd: 0.25, unsettledTokens: 7 });
    const known = { usage: { inputTokens: 3, outputTokens: 1 }, costUsd: 0.125 };
    for (const cut of [lost, { type: 'cancelled', at: 1, unsettledUsd: 0.25, unsettledTokens: 7 } as const])
      expect(spendOf(within, { ...cut, known } as TurnEvent)).toEqual({
        ...{ root, slices: [own], usd: 0.125, tokens: 4, unsettledUsd: 0.25, unsettledTokens: 7 },
      });
    await releaseReservation(ports, within, { usd: 0, tokens: 7 });
    expect(released).toMatchObject([[root, { unsettledUsd: 0, unsettledTokens: 7, slices: [own] }]]);
  });
});

test('while others have reserved the rest it waits with growing pauses', async () => {
  const busy = Array(6).fill('busy') as MoneyAnswer[];
  const { reserve, slept, wishes } = open({ answers: [...busy, whole] });
  expect(await reserve(child)).toEqual(granted);
  expect(slept).toEqual([200, 400, 800, 1600, 2000, 2000]);
  expect(wishes.map(([, { at }]) => at)).toEqual([1000, 1001, 1002, 1003, 1004, 1005, 1006]);
});

test('a call that may be charged for is made once more only for the same sum again (TM7)', async () => {
  const { ports, controller, wishes } = open({ answers: [whole, 'spent'] });
  const limits = { turn: { stepsMax: 1, callsMax: 1, usdMax: 7 } };
  const budgeted = { context: { session: child, limits }, signal: controller.signal, deadlineAt: 9000 };
  expect(await reserveAgain(ports, budgeted, { usd: 0.75 })).toBe(true);
  expect(await reserveAgain(ports, budgeted, { usd: 0.75 })).toBe(false);
  expect(wishes.map(([, { usd, usdMin }]) => [usd, usdMin])).toEqual([
    [0.75, 0.75],
    [0.75, 0.75],
  ]);
});

test('a spent budget is reported', async () => {
  const { reserve } = open({ answers: ['busy', 'spent'] });
  expect(await reserve(child)).toBe('spent');
});

test('an interruption ends the wait', async () => {
  const asked = open({
    answers: ['busy'],
    onSleep: () => asked.controller.abort(new Error('the turn was interrupted')),
  });
  await expect(asked.reserve(child)).rejects.toThrow('the turn was interrupted');
  expect(asked.slept).toEqual([200]);
});

const answered: TurnEvent = {
  type: 'model-answered',
  at: 1,
  step: 1,
  messageId: 'm' as MessageId,
  text: '',
  calls: [],
  end: 'end_turn',
  usage: { inputTokens: 1, outputTokens: 1 },
  costUsd: 0.5,
};
const failed: TurnEvent = { type: 'model-failed', at: 1, step: 1, code: 'internal_error', message: '' };

test('an answer reports its cost, a failure its end, and any other outcome nothing', () => {
  expect(spendOf(child, answered)).toEqual({ root, usd: 0.5 });
  expect(spendOf(parent, failed)).toEqual({ root, usd: 0, unsettledUsd: undefined });
  expect(spendOf(child, { ...failed, unsettledUsd: 0.25 })).toEqual({ root, usd: 0, unsettledUsd: 0.25 });
  expect(spendOf(child, { type: 'cancelled', at: 1 })).toBeUndefined();
  expect(spendOf(child, { type: 'cancelled', at: 1, unsettledUsd: 0.25 })).toEqual({
    ...{ root, usd: 0, unsettledUsd: 0.25 },
  });
  expect(spendOf(child, { type: 'budget-spent', at: 1, step: 1 })).toBeUndefined();
});

test('a failed release is logged, and the reservation expires', async () => {
  const { ports, released, warned } = open();
  await releaseReservation(ports, child, { usd: 0.25 });
  expect(released).toEqual([[root, { session: own, fence: 4, unsettledUsd: 0.25 }]]);
  expect(warned).toEqual(['a reservation of a tree was not released']);
});
