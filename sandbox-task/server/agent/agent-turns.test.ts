/** Turns of programs: RT2 and RT5. */
import { expect, test } from 'vitest';
import type { RuntimePrompt } from '#shared/domain/runtime.ts';
import type { AgentListener, AgentProgram } from './agent-program.ts';
import { createAgentTurns } from './agent-turns.ts';

const prompt = (text: string, conversation = 'one'): RuntimePrompt => ({
  ...{ runtime: 'opencode', conversation, text, provider: 'anthropic', model: 'm', asks: 'everything' },
});

const openTurns = () => {
  const heard: { readonly text: string; readonly listener: AgentListener }[] = [];
  const opencode: AgentProgram = {
    prompt: async ({ text }, listener) => {
      if (text === 'refuse') throw new Error('it cannot be started');
      heard.push({ text, listener });
      return {
        reply: async () => undefined,
        abort: async () => listener.fact({ type: 'ended', reason: 'aborted' }),
      };
    },
  };
  return { heard, turns: createAgentTurns({ opencode, acp: opencode }) };
};

test('RT2: a prompt is handed over once, whoever repeats it', async () => {
  const { heard, turns } = openTurns();
  turns.put('a', prompt('first'));
  turns.put('a', prompt('first'));
  await turns.reply('a', []);
  expect(heard).toHaveLength(1);
  expect(turns.isBusy()).toBe(true);
});

test('RT5: the next turn of a conversation stops the one before, and no other', async () => {
  const { heard, turns } = openTurns();
  turns.put('a', prompt('first'));
  turns.put('b', prompt('beside', 'other'));
  turns.put('c', prompt('second'));
  await turns.reply('c', []);
  expect(turns.recorderOf('a').hasEnded()).toBe(true);
  expect(turns.recorderOf('b').hasEnded()).toBe(false);
  expect(heard.map(({ text }) => text)).toContain('second');
});

test('a program that cannot be started is heard as a failure', async () => {
  const { turns } = openTurns();
  turns.put('a', prompt('refuse'));
  await turns.recorderOf('a').ended;
  const signal = new AbortController().signal;
  const { events } = await turns.recorderOf('a').take(0, { ms: 0, signal });
  expect(events).toMatchObject([{ fact: { reason: 'failed', message: 'it cannot be started' } }]);
});

test('an unknown turn is refused', () => {
  expect(() => openTurns().turns.recorderOf('none')).toThrow('there is no such turn');
});
