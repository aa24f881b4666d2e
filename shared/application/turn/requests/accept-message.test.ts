/** Bounds of a message: a megabyte of text, counted in bytes, and nothing of a longer one; and what its function is told. */
import { expect, test } from 'vitest';
import { lifetimes, openQuietPorts } from '../../../../tests/simulation/quiet-ports.ts';
import type { SessionId } from '../../../domain/ids.ts';
import { messageTextBytesMax, waitingMessagesMax } from '../../../domain/limits.ts';
import { deploymentOwner } from '../../../domain/principal.ts';
import { createSession } from '../../session/create-session.ts';
import { acceptMessage } from './accept-message.ts';

const open = async () => {
  const { ports } = openQuietPorts();
  const session = await createSession(ports, {
    id: crypto.randomUUID() as SessionId,
    principal: { owner: deploymentOwner, scope: 'admin', tokenHash: 'a' },
    options: {},
    defaults: {
      ...{ provider: 'demo', flavor: 'small', template: 'python' },
      lifetimes,
    },
  });
  if (session === undefined) throw new Error('no session was made');
  return {
    ...{ ports, session },
    say: (text: string) => acceptMessage(ports, session, { text }),
    inbox: async () => (await ports.turns.loadWork(session.id)).inbox.length,
  };
};

test.each([
  ['letters of one byte', 'x'.repeat(messageTextBytesMax)],
  ['letters of two', 'ü'.repeat(messageTextBytesMax / 2)],
])('a megabyte of %s is accepted', async (_what, text) => {
  const { say, inbox } = await open();
  await say(text);
  expect(await inbox()).toBe(1);
});

test('messages over the limit of a session are refused, whatever their sender', async () => {
  const { say, inbox } = await open();
  await say('in progress');
  for (let count = 0; count < waitingMessagesMax; count += 1) await say('x');
  await expect(say('one more')).rejects.toMatchObject({ code: 'too_many_requests' });
  expect(await inbox()).toBe(1 + waitingMessagesMax);
});

test.each([
  ['letters of one byte', 'x'.repeat(messageTextBytesMax + 1)],
  ['letters of two', 'ü'.repeat(messageTextBytesMax / 2 + 1)],
])('more than a megabyte of %s is too large, and not accepted', async (_what, text) => {
  const { say, inbox } = await open();
  await expect(say(text)).rejects.toMatchObject({ code: 'payload_too_large' });
  expect(await inbox()).toBe(0);
});

test('a repeated message invokes a function that reads its work under the lease', async () => {
  const { ports, session } = await open();
  const marks: unknown[] = [];
  const runTurn: typeof ports.invoker.runTurn = async (_id, work) => void marks.push(work?.mark);
  const invoker = { ...ports.invoker, runTurn };
  for (let time = 0; time < 2; time += 1)
    await acceptMessage({ ...ports, invoker }, session, { text: 'x', messageId: 'm1' });
  expect(marks).toEqual([{ workSeq: 0, lastSeq: -1, fence: 0 }, undefined]);
});
