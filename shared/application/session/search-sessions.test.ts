/** Search over what the table holds: whose sessions it finds, in which order, and how much it reads of it. */
import { expect, test } from 'vitest';
import { newExecution, newSession, workspaceOf } from '../../../tests/conformance/session-fixture.ts';
import { openQuietPorts } from '../../../tests/simulation/quiet-ports.ts';
import type { HistoryMessage } from '../../domain/history.ts';
import type { MessageId, OwnerId, TurnId } from '../../domain/ids.ts';
import { deploymentOwner, type Principal } from '../../domain/principal.ts';
import { searchedMessagesMax } from '../../domain/search.ts';
import type { Session } from '../../domain/session.ts';
import { searchSessions } from './search-sessions.ts';

const admin: Principal = { owner: deploymentOwner, scope: 'admin', tokenHash: 'a' };
const said = (text: string): HistoryMessage => ({ role: 'user', messageId: text as MessageId, text });

type Said = { readonly texts: readonly string[]; next?: number; from?: number; version?: number };

const open = () => {
  const { ports, takeRequests } = openQuietPorts();
  const make = async (change: Partial<Session>, ...texts: string[]): Promise<Session> => {
    const given = { owner: deploymentOwner, ...change };
    const session = change.kind === 'execution' ? newExecution(given) : newSession(given);
    await ports.sessions.create(session, { workspace: workspaceOf(session) });
    if (texts.length > 0) await say(session, { texts });
    return session;
  };
  /** Adds messages after the first `next`, to a conversation that counts from `from` on. */
  const say = async ({ id }: Session, { texts, next = 0, from = 0, version = 0 }: Said) => {
    const session = await ports.turns.takeLease(id, { holder: 'a', at: 10, until: 1000 });
    if (session === undefined) throw new Error('the lease was not free');
    await ports.turns.commit({
      ...{ session, fence: session.lease.fence, version, log: [], history: texts.map(said) },
      ...{ state: { kind: 'done', turnId: 't' as TurnId, stopReason: 'end_turn' } },
      ...{ historyNext: next, historyFrom: from, historyKept: from, at: 20 },
      ...{ release: true, wakes: false, dueAt: 5000 },
    });
  };
  const search = (text: string, change: Partial<Parameters<typeof searchSessions>[1]> = {}) =>
    searchSessions(ports, { text, principal: admin, sessionsMax: 25, ...change });
  return { make, say, search, takeRequests };
};

const foundIn = (page: Awaited<ReturnType<typeof searchSessions>>): readonly string[] =>
  page.found.map(({ session }) => session.id);

test('titles and messages are searched, newest sessions first', async () => {
  const { make, search } = open();
  const old = await make({ createdAt: 1000 }, 'deploy the parser', 'thanks');
  const titled = await make({ createdAt: 2000, title: 'A parser for dates' }, 'hello');
  const execution = await make({ createdAt: 3000, kind: 'execution', title: 'Parser runs' });
  await make({ createdAt: 4000 }, 'nothing of the kind');
  const page = await search('PARSER');
  expect(foundIn(page)).toEqual([execution.id, titled.id, old.id]);
  expect(page.found.map(({ isTitleFound }) => isTitleFound)).toEqual([true, true, false]);
  expect(page.found.at(-1)?.messages).toEqual([
    {
      ...{ messageId: 'deploy the parser', role: 'user' },
      ...{ before: 'deploy the ', match: 'parser', after: '' },
    },
  ]);
  expect(page).toMatchObject({ searchedSessions: 4, cutConversations: 0 });
  expect(page.next).toBeUndefined();
});

test('sessions of another owner are not found', async () => {
  const { make, search } = open();
  await make({ owner: crypto.randomUUID() as OwnerId, title: 'parser' }, 'parser');
  expect((await search('parser')).found).toEqual([]);
});

test('messages that were cleared are not found', async () => {
  const { make, say, search } = open();
  const session = await make({}, 'the secret word');
  await say(session, { texts: ['later'], next: 1, from: 1, version: 1 });
  expect(foundIn(await search('secret'))).toEqual([]);
  expect(foundIn(await search('later'))).toEqual([session.id]);
});

test('a page reads a bounded number of conversations, however many there are, and the next one goes on', async () => {
  const { make, search, takeRequests } = open();
  const made: Session[] = [];
  for (let at = 0; at < 9; at += 1) made.push(await make({ createdAt: 1000 + at }, `needle ${at}`));
  takeRequests();
  const first = await search('needle', { sessionsMax: 4 });
  expect(first.searchedSessions).toBe(4);
  // One page of the list, and two reads for each conversation.
  expect(takeRequests()).toHaveLength(1 + 2 * 4);
  const second = await search('needle', { sessionsMax: 4, after: first.next });
  const third = await search('needle', { sessionsMax: 4, after: second.next });
  expect([...foundIn(first), ...foundIn(second), ...foundIn(third)]).toEqual(
    made.map(({ id }) => id).toReversed(),
  );
  expect(third.next).toBeUndefined();
});

test('of a long conversation the newest messages are searched, and the page says so', async () => {
  const { make, say, search } = open();
  const session = await make({}, 'the oldest needle');
  for (let part = 0; part < searchedMessagesMax / 50; part += 1) {
    const texts = Array.from({ length: 50 }, (_, index) => `message ${part}-${index}`);
    await say(session, { texts, next: 1 + part * 50, version: 1 + part });
  }
  expect(await search('needle')).toMatchObject({ found: [], searchedSessions: 1, cutConversations: 1 });
  const { found } = await search('message');
  expect(found[0]?.messages.map(({ messageId }) => messageId)).toEqual([
    ...['message 19-49', 'message 19-48', 'message 19-47'],
  ]);
});
