import { expect, test } from 'vitest';
import { relayLineBytesMax, relayTakeUpsMax } from '#shared/domain/relay/limits.ts';
import { repeatable, retryWithNextHolder } from './retry-with-next-holder.ts';

const callOf = (method: string, params?: Record<string, unknown>) => {
  const request = { jsonrpc: '2.0' as const, id: 1, method, ...(params && { params }) };
  const line = new TextEncoder().encode(JSON.stringify(request));
  const { line: sent, mayRepeat } = repeatable(request, line);
  return { isSame: sent === line, mayRepeat, sent: JSON.parse(new TextDecoder().decode(sent)) };
};

test('a message to an agent gets an id, so that doing it again has no effect', () => {
  const { isSame, mayRepeat, sent } = callOf('session_message', { message: 'x' });
  expect([isSame, mayRepeat]).toEqual([false, true]);
  expect(sent).toMatchObject({
    id: 1,
    params: { message: 'x', message_id: expect.stringMatching(/^.{36}$/) },
  });
});

test('a message with an id, and calls that read, are sent as they came', () => {
  expect(callOf('session_message', { message: 'x', message_id: 'm' })).toMatchObject({
    isSame: true,
    mayRepeat: true,
  });
  expect(callOf('session_events')).toMatchObject({ isSame: true, mayRepeat: true });
});

test('what cannot be known to be done once is not done again', () => {
  expect(callOf('caller_tool', { name: 'a' })).toMatchObject({ isSame: true, mayRepeat: false });
  const message = 'x'.repeat(relayLineBytesMax - 100);
  expect(callOf('session_message', { message })).toMatchObject({ isSame: true, mayRepeat: false });
});

test('a failure of another kind is no reason to try again', async () => {
  let tries = 0;
  const attempt = () => {
    tries += 1;
    return Promise.reject(new Error('refused'));
  };
  await expect(retryWithNextHolder(attempt)).rejects.toThrow('refused');
  expect([tries, relayTakeUpsMax]).toEqual([1, 3]);
});
