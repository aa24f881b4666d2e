/** Model calls of programs over ports in memory: who may call what, what is reserved and counted, and refusals in the provider's form (BR2, BR3). */
import { expect, test } from 'vitest';
import { fake } from '../../../tests/fake.ts';
import type { OwnerId, ProjectId, SessionId, WorkspaceId } from '../../domain/ids.ts';
import type { Session } from '../../domain/session.ts';
import type { MoneyAnswer, ReservationRequest } from '../../domain/tree-budget.ts';
import { AppError } from '../../errors.ts';
import type { TreeStore } from '../../ports/trees.ts';
import type { BrokerDeps } from '../deps.ts';
import { brokerCall } from './broker-call.ts';

const session = fake<Session>({
  ...{
    id: 's' as SessionId,
    owner: 'o' as OwnerId,
    project: 'p' as ProjectId,
    workspace: 'w' as WorkspaceId,
  },
  ...{ kind: 'agent', status: 'running', provider: 'demo', model: 'demo', costUsd: 0, lastSeq: 4 },
});
const request = { model: 'claude-haiku-5-5', max_tokens: 100, messages: [] };
const answered = {
  content: [{ type: 'text', text: 'hi' }],
  usage: { input_tokens: 1000, output_tokens: 10 },
};

type Options = {
  readonly session?: Partial<Session>;
  readonly body?: object;
  readonly answers?: readonly MoneyAnswer[];
  readonly begins?: readonly boolean[];
  readonly send?: () => Promise<Response>;
  readonly isThrottled?: boolean;
  readonly isTreeUnread?: boolean;
};

const play = async (options: Options = {}) => {
  const { answers = [], begins = [], send = async () => Response.json(answered) } = options;
  const reserved: ReservationRequest[] = [];
  const spent: Parameters<TreeStore['spend']>[1][] = [];
  const bodies: object[] = [];
  const money = [...answers];
  const beginning = [...begins];
  let [now, begun, sent] = [1_000_000, 0, 0];
  const ports: BrokerDeps = {
    sessions: fake<BrokerDeps['sessions']>({ get: async () => ({ ...session, ...options.session }) }),
    trees: fake<TreeStore>({
      begin: async () => {
        begun += 1;
        return beginning.shift() ?? true;
      },
      reserve: async (_, asked) => {
        reserved.push(asked);
        return money.shift() ?? { grantedUsd: asked.usd };
      },
      read: async () => {
        if (options.isTreeUnread) throw new Error('the table is away');
        return undefined;
      },
      spend: async (_, of) => void spent.push(of),
    }),
    rateLimiter: fake<BrokerDeps['rateLimiter']>({ take: async () => options.isThrottled !== true }),
    brokerWire: {
      send: ({ body }) => {
        bodies.push(body);
        sent += 1;
        return send();
      },
    },
    brokerSettings: { prices: {}, usdMax: 10, outputTokensMax: 8192 },
    telemetry: fake<BrokerDeps['telemetry']>({
      info: () => undefined,
      warn: () => undefined,
      error: () => undefined,
    }),
    world: fake<BrokerDeps['world']>({
      now: () => now,
      uuid: () => 'u',
      sleep: async (ms) => {
        now += ms;
      },
    }),
  };
  const { body, ...head } = await brokerCall(ports, {
    ...{
      provider: 'anthropic',
      method: 'POST',
      path: '/v1/messages',
      body: JSON.stringify(options.body ?? request),
    },
    ...{ session: session.id, workspace: session.workspace, deadlineAt: 2_000_000 },
    signal: AbortSignal.timeout(60_000),
  });
  const text = typeof body === 'string' ? body : await new Response(body).text();
  return { ...head, answer: JSON.parse(text) as unknown, reserved, spent, begun, sent, bodies };
};

test('a call reserves the most that it can cost, and counts what it did', async () => {
  const { status, answer, reserved, spent, begun } = await play();
  expect([status, answer, begun]).toEqual([200, answered, 1]);
  expect(reserved).toMatchObject([{ session: 's/u', usdMax: 10, until: 2_060_000 }]);
  expect(reserved[0]?.usd).toBeGreaterThan(100 * 0.5e-6);
  const usage = { inputTokens: 1000, outputTokens: 10 };
  const usd = expect.closeTo(0.000_105, 9);
  expect(spent).toEqual([{ reservation: 's/u', session: 's', usd, usage, unsettledUsd: 0 }]);
});

test('the answer to a program is bounded by what is left', async () => {
  const { reserved, bodies } = await play();
  expect(bodies).toMatchObject([{ max_tokens: 100 }]);
  // An output token costs half a millionth of a dollar.
  const grantedUsd = (reserved[0]?.usd ?? 0) - 10 * 0.5e-6;
  const less = await play({ answers: [{ grantedUsd: grantedUsd + 1e-9 }] });
  expect(less.bodies).toMatchObject([{ max_tokens: 90 }]);
});

test('a session with a tree begins none, and one that moved meanwhile is read again', async () => {
  expect(await play({ session: { hasChildren: true } })).toMatchObject({ status: 200, begun: 0 });
  expect(await play({ begins: [false, false] })).toMatchObject({ status: 200, begun: 3 });
});

test('a call waits for the reservations of others, and not for ever', async () => {
  expect(await play({ answers: ['busy', 'busy'] })).toMatchObject({ status: 200, sent: 1 });
  const busy = await play({ answers: Array(100).fill('busy') });
  expect(busy).toMatchObject({ status: 402, sent: 0, answer: { error: { type: 'billing_error' } } });
  expect(await play({ answers: ['spent'] })).toMatchObject({ status: 402, sent: 0 });
});

test('a refusal of the provider passes, and costs nothing', async () => {
  const send = async () => Response.json({ type: 'error' }, { status: 429 });
  const nothing = { usd: 0, usage: { inputTokens: 0, outputTokens: 0 }, unsettledUsd: 0 };
  expect(await play({ send })).toMatchObject({ status: 429, answer: { type: 'error' }, spent: [nothing] });
});

test('what a provider may charge for without saying so stays counted (TM7)', async () => {
  const gone = () => Promise.reject(new AppError('provider_unavailable', 'anthropic cannot be reached'));
  const unreached = await play({ send: gone });
  const all = { usd: 0, unsettledUsd: unreached.reserved[0]?.usd };
  expect(all.unsettledUsd).toBeGreaterThan(0);
  expect(unreached).toMatchObject({
    answer: { error: { message: 'anthropic cannot be reached' } },
    spent: [all],
  });
  const gateway = async () => Response.json({ type: 'error' }, { status: 504 });
  expect(await play({ send: gateway })).toMatchObject({ status: 504, spent: [all] });
  const unreported = await play({ send: async () => Response.json({ content: 'words' }) });
  const [{ usd = 0, unsettledUsd = 0 } = {}] = unreported.spent;
  expect(usd).toBeGreaterThan(0);
  expect(usd + unsettledUsd).toBeCloseTo(all.unsettledUsd ?? 0, 9);
});

test('a failure of ours shows no details', async () => {
  const { status, answer } = await play({ send: () => Promise.reject(new Error('a secret detail')) });
  expect([status, answer]).toEqual([
    500,
    { type: 'error', error: { type: 'api_error', message: 'the model call failed' } },
  ]);
});

test.each<readonly [string, Options, number]>([
  ['of an execution session', { session: { kind: 'execution' } }, 403],
  ['of a session that has ended', { session: { status: 'completed' } }, 409],
  ['from another workspace', { session: { workspace: 'x' as WorkspaceId } }, 409],
  ['of a model without a price', { body: { ...request, model: 'unlisted' } }, 403],
  ['over the rate', { isThrottled: true }, 429],
  ['that cannot be read', { body: [] }, 400],
])('a call %s is refused before any money is reserved', async (_, options, status) => {
  expect(await play(options)).toMatchObject({
    status,
    sent: 0,
    begun: 0,
    reserved: [],
    answer: { type: 'error' },
  });
});

test('a call that is not made leaves no reservation', async () => {
  const { status, sent, reserved, spent } = await play({ isTreeUnread: true });
  expect([status, sent]).toEqual([500, 0]);
  expect(spent).toHaveLength(reserved.length);
});

test('images are reserved by their number, not by their bytes (BR2)', async () => {
  const source = { type: 'base64', media_type: 'image/png', data: '' };
  const content = Array(50).fill({ type: 'image', source });
  const { reserved } = await play({ body: { ...request, messages: [{ role: 'user', content }] } });
  // A millionth of a dollar is the price of ten input tokens.
  expect(reserved[0]?.usd).toBeGreaterThan(50 * 10_000 * 0.1e-6);
});

test('what is counted by pages is not sent (BR4)', async () => {
  const source = { type: 'base64', media_type: 'application/pdf', data: 'AA==' };
  const messages = [{ role: 'user', content: [{ type: 'document', source }] }];
  expect(await play({ body: { ...request, messages } })).toMatchObject({
    status: 403,
    sent: 0,
    reserved: [],
  });
});
