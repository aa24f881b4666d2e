/** The start of an agent on a user's side that is played. */
import { expect, test } from 'vitest';
import type { RuntimePrompt } from '#shared/domain/runtime.ts';
import type { ProcessControl, UserSide } from '../../user-side.ts';
import { createAcp } from './acp-program.ts';

const results: Readonly<Record<string, object>> = {
  initialize: { protocolVersion: 1 },
  'session/new': { sessionId: 's' },
};

/** Each agent answers, and ends as it says its session. */
const playAgents = () => {
  let starts = 0;
  const startProcess: UserSide['startProcess'] = async ({ onOutput }) => {
    starts += 1;
    const ended = Promise.withResolvers<{ exitCode: number; signal: null }>();
    return {
      pid: 1,
      // As of a runner, whose answer is looked at before it counts.
      ended: ended.promise.then((end) => end) as unknown as ProcessControl['ended'],
      kill: () => undefined,
      ask: async (_request, line) => {
        const { id, method } = JSON.parse(String(line));
        onOutput(
          'stdout',
          Buffer.from(`${JSON.stringify({ jsonrpc: '2.0', id, result: results[method] })}\n`),
        );
        if (method === 'session/new') ended.resolve({ exitCode: 3, signal: null });
        return { message: { type: 'done', id: 1 }, payload: Buffer.alloc(0) };
      },
    };
  };
  return { userSide: { startProcess } as UserSide, starts: () => starts };
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
