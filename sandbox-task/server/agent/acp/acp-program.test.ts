/** The start of an agent on a user's side that is played. */
import { expect, test } from 'vitest';
import type { RuntimePrompt } from '#shared/domain/runtime.ts';
import type { ProcessControl, UserSide } from '../../user-side.ts';
import { createAcp } from './acp-program.ts';

const results: Readonly<Record<string, object>> = {
  initialize: { protocolVersion: 1 },
  'session/new': { sessionId: 's' },
};

type PlayOptions = { readonly onPrompt?: (say: (message: object) => void, id: number) => void };

/** Each agent answers, and ends as it says its session, or says more at its prompt. */
const playAgents = ({ onPrompt }: PlayOptions = {}) => {
  let starts = 0;
  const answered: object[] = [];
  const startProcess: UserSide['startProcess'] = async ({ onOutput }) => {
    starts += 1;
    const ended = Promise.withResolvers<{ exitCode: number; signal: null }>();
    return {
      pid: 1,
      // As of a runner, whose answer is looked at before it counts.
      ended: ended.promise.then((end) => end) as unknown as ProcessControl['ended'],
      kill: () => undefined,
      isLost: () => false,
      ask: async (_request, line) => {
        const { id, method, result } = JSON.parse(String(line));
        if (method === undefined) answered.push({ id, result });
        const say = (message: object): void =>
          onOutput('stdout', Buffer.from(`${JSON.stringify({ jsonrpc: '2.0', ...message })}\n`));
        if (method in results) say({ id, result: results[method] });
        if (method === 'session/new' && onPrompt === undefined) ended.resolve({ exitCode: 3, signal: null });
        if (method === 'session/prompt') onPrompt?.(say, id);
        return { message: { type: 'done', id: 1 }, payload: Buffer.alloc(0) };
      },
    };
  };
  return { userSide: { startProcess } as UserSide, starts: () => starts, answered };
};

const prompt: RuntimePrompt = {
  ...{ runtime: 'acp', conversation: 'c', text: 'hello', provider: 'anthropic', model: 'm', asks: 'nothing' },
};

test('an agent that has ended with its session takes no turn, and the next turn starts another', async () => {
  const { userSide, starts } = playAgents();
  const program = createAcp({ userSide, workspace: '/workspace' });
  const listener = { fact: () => undefined, delta: () => undefined, room: async () => undefined };
  for (const turn of [1, 2]) {
    await expect(program.prompt(prompt, listener)).rejects.toThrow('acp-agent ended (3)');
    expect(starts()).toBe(turn);
  }
});

test('RT1: an agent that asks on and on is not listened to until its questions were taken', async () => {
  const facts: string[] = [];
  const { userSide } = playAgents({
    onPrompt: (say) => {
      for (let id = 0; id < 500; id += 1) {
        const toolCall = { toolCallId: `c${id}`, kind: 'execute' };
        say({ id, method: 'session/request_permission', params: { sessionId: 's', toolCall, options: [] } });
      }
    },
  });
  const full = Promise.withResolvers<void>();
  const taken = Promise.withResolvers<void>();
  const listener = {
    fact: ({ type }: { readonly type: string }) => void facts.push(type),
    delta: () => undefined,
    room: async () => {
      if (facts.length < 10) return;
      full.resolve();
      await taken.promise;
    },
  };
  const program = createAcp({ userSide, workspace: '/workspace' });
  await program.prompt({ ...prompt, asks: 'everything' }, listener);
  await full.promise;
  await new Promise((resolve) => setImmediate(resolve));
  expect(facts).toEqual(new Array(10).fill('asked'));
  taken.resolve();
  await expect.poll(() => facts).toHaveLength(500);
});

test('a question that is open when the agent ends its turn is taken back', async () => {
  const ended = Promise.withResolvers<void>();
  const { userSide, answered } = playAgents({
    onPrompt: (say, id) => {
      const params = { sessionId: 's', toolCall: { toolCallId: 'c' }, options: [] };
      say({ id: 'open', method: 'session/request_permission', params });
      say({ id, result: { stopReason: 'end_turn' } });
    },
  });
  const listener = {
    fact: ({ type }: { readonly type: string }) => type === 'ended' && ended.resolve(),
    delta: () => undefined,
    room: async () => undefined,
  };
  const program = createAcp({ userSide, workspace: '/workspace' });
  await program.prompt({ ...prompt, asks: 'everything' }, listener);
  await ended.promise;
  await expect.poll(() => answered).toEqual([{ id: 'open', result: { outcome: { outcome: 'cancelled' } } }]);
});
