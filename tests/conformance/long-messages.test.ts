/**
 * Messages up to the limit of their text, whatever it compresses to: in parts where an item has no room for them, which come, are
 * read and leave together.
 */
import { randomBytes } from 'node:crypto';
import { gzipSync } from 'node:zlib';
import { PutCommand } from '@aws-sdk/lib-dynamodb';
import { expect, test } from 'vitest';
import { partitionItems } from '#shared/adapters/aws/dynamo/partition.ts';
import { type Item, keyOfPart, keys, type Table } from '#shared/adapters/aws/dynamo/table.ts';
import { makeTurnStore } from '#shared/adapters/aws/dynamo/turn-store.ts';
import type { HistoryMessage } from '#shared/domain/history.ts';
import type { MessageId, SessionId, TurnId } from '#shared/domain/ids.ts';
import { messageTextBytesMax } from '#shared/domain/limits.ts';
import type { InboxMessage } from '#shared/ports/inbox.ts';
import type { CommitResult, TurnCommit } from '#shared/ports/turn-store.ts';
import { inboxLimits, message, newSession, onTable } from './session-fixture.ts';
import { openFileTable } from './table-fixture.ts';

const fixture = openFileTable();

/** No text compresses worse. */
const noise = (): string => randomBytes((messageTextBytesMax / 4) * 3).toString('base64');
const long = (id: string): InboxMessage => ({ ...message(id), text: noise() });
const said = (id: string, text = noise()): HistoryMessage => ({
  ...{ role: 'user', messageId: id as MessageId, text },
});

const open = async () => {
  const stores = onTable(fixture.table);
  const { id } = await stores.create(newSession());
  const { turns, read } = stores;
  const writeTo = async (session: SessionId, change: Partial<TurnCommit>): Promise<CommitResult> => {
    const { state: _, ...turn } = (await turns.loadWork(session)).turn;
    return turns.commit({
      ...{ session: await read(session), ...turn, at: 3000, dueAt: 9000, log: [], history: [] },
      state: { kind: 'done', turnId: 't' as TurnId, stopReason: 'end_turn' },
      ...{ release: false, wakes: false, ...change },
    });
  };
  return {
    ...stores,
    id,
    writeTo,
    commit: (change: Partial<TurnCommit>) => writeTo(id, change),
    accept: async (one: InboxMessage) => stores.inbox.accept(await read(id), one, inboxLimits),
    /** The sort keys of its further parts, without what tells one message from another. */
    partsOf: async (session: SessionId = id): Promise<readonly string[]> =>
      (await partitionItems(fixture.table, { pk: keys.session(session).pk, from: 'A' }))
        .map(({ sk }) => String(sk))
        .filter((sk) => sk.includes('PART#'))
        .map((sk) => sk.replace(/#.*#/, '#')),
  };
};

/** The table, which gives the items of its queries changed. */
const seeing = (change: (items: readonly Item[]) => readonly Item[] | Promise<readonly Item[]>): Table => {
  const send = async (command: Parameters<Table['client']['send']>[0]): Promise<unknown> => {
    const answer = (await fixture.table.client.send(command)) as { readonly Items?: readonly Item[] };
    return answer.Items === undefined ? answer : { ...answer, Items: await change(answer.Items) };
  };
  return { ...fixture.table, client: { send } as unknown as Table['client'] };
};

const isPart = ({ sk }: Item): boolean => String(sk).includes('PART#');

test('a message of random text as long as the limit waits whole, is accepted once, and leaves whole', async () => {
  const { turns, accept, commit, partsOf, id } = await open();
  const sent = long('m');
  expect(Buffer.byteLength(sent.text)).toBe(1_048_576);
  expect(await accept(sent)).toBe('accepted');
  expect(await accept(sent)).toBe('duplicate');
  const { inbox } = await turns.loadWork(id);
  expect(inbox).toHaveLength(1);
  expect(inbox[0]?.text === sent.text).toBe(true);
  expect(await partsOf()).toEqual(['INBOXPART#1', 'INBOXPART#2']);
  const history = [said('m', sent.text)];
  expect(await commit({ history, begins: inbox[0] })).toMatchObject({ status: 'committed' });
  expect(await commit({ completed: inbox[0] })).toMatchObject({ status: 'committed' });
  expect((await turns.loadWork(id)).inbox).toEqual([]);
  expect(await partsOf()).toEqual(['MESSAGEPART#1', 'MESSAGEPART#2']);
});

test('messages in parts lie between short ones, in order, and each is deleted with its parts', async () => {
  const { turns, commit, partsOf, item, id } = await open();
  const history = [said('a', 'short'), said('b'), said('c', 'short, too'), said('d')];
  await commit({ history: history.slice(0, 2) });
  await commit({ history: history.slice(2) });
  expect((await turns.history(id)).map((one, index) => one.text === history[index]?.text)).toEqual(
    history.map(() => true),
  );
  const work = await turns.loadWork(id);
  expect(work.history.every((one, index) => one.text === history[index]?.text)).toBe(true);
  expect(work.turn.historyParts).toEqual({ 1: 3, 3: 3 });
  expect((await turns.getWithTurn(id))?.turn).toEqual(work.turn);
  const newest = await turns.newestHistory(id, { messagesMax: 10, charactersMax: 5_000_000 });
  expect(newest.isWhole).toBe(true);
  expect(newest.messages.map((one) => one.text === history[1]?.text)).toEqual([false, false, true, false]);
  await commit({ historyFrom: 2 });
  expect((await turns.loadWork(id)).turn.historyParts).toEqual({ 3: 3 });
  expect(await partsOf()).toEqual(['MESSAGEPART#1', 'MESSAGEPART#2']);
  await commit({ historyFrom: 4 });
  expect(await partsOf()).toEqual([]);
  expect(await item(keys.message(id, 3))).toBeUndefined();
  expect((await turns.loadWork(id)).turn).not.toHaveProperty('historyParts');
});

test('a message is deleted with all of its parts or later', async () => {
  const { turns, commit, partsOf, id } = await open();
  const short = Array.from({ length: 97 }, (_, index) => said(`s${index}`, 'short'));
  await commit({ history: short });
  await commit({ history: [said('long')] });
  // Beside the session and the turn there is room for 98 deletions, and this message is three of them.
  await commit({ historyFrom: 98 });
  expect((await turns.loadWork(id)).turn).toMatchObject({ historyKept: 97, historyParts: { 97: 3 } });
  expect(await turns.history(id)).toEqual([]);
  expect(await partsOf()).toEqual(['MESSAGEPART#1', 'MESSAGEPART#2']);
  await commit({});
  expect((await turns.loadWork(id)).turn.historyKept).toBe(98);
  expect(await partsOf()).toEqual([]);
});

test('a short message is one item without a mark, and one of an earlier release is read', async () => {
  const { turns, accept, commit, item, id, read } = await open();
  await accept(message('m'));
  await commit({ history: [said('m', 'short')] });
  expect(await item(keys.inbox(id, 2000, 'm'))).toEqual({ ...keys.inbox(id, 2000, 'm'), ...message('m') });
  expect(await item(keys.turn(id))).not.toHaveProperty('historyParts');
  const text = 'wörter '.repeat(20_000);
  const { text: _, ...rest } = message('old', 2001);
  const Item = { ...keys.inbox(id, 2001, 'old'), ...rest, packed: gzipSync(text) };
  await fixture.table.client.send(new PutCommand({ TableName: fixture.table.name, Item }));
  const { inbox } = await turns.loadWork(id);
  expect(inbox[1]).toEqual({ ...message('old', 2001), text });
  const left = await turns.commit({
    ...{ session: await read(id), ...(await turns.loadWork(id)).turn, at: 3000, dueAt: 9000, log: [] },
    ...{ history: [], release: false, wakes: false, completed: inbox[1] },
  });
  expect(left).toMatchObject({ status: 'committed' });
  expect((await turns.loadWork(id)).inbox.map(({ messageId }) => messageId)).toEqual(['m']);
});

test('a message of characters that JSON writes in six is read again', async () => {
  const { turns, accept, commit, id } = await open();
  const text = '\u0001'.repeat(messageTextBytesMax);
  await accept({ ...message('m'), text });
  await commit({ history: [said('m', text)] });
  const { inbox, history } = await turns.loadWork(id);
  expect([inbox[0]?.text === text, history[0]?.text === text]).toEqual([true, true]);
});

test('a read that meets half of a write is done again', async () => {
  const { accept, commit, id } = await open();
  await accept(long('m'));
  await commit({ history: [said('m')] });
  const missing = ['INBOXPART#', 'MESSAGEPART#', 'MESSAGEPART#'];
  const torn = makeTurnStore(
    seeing((items) => {
      const [kind] = items.some(isPart) ? missing.splice(0, 1) : [];
      const lost = items.find(({ sk }) => kind !== undefined && String(sk).startsWith(kind));
      return items.filter((one) => one !== lost);
    }),
  );
  const work = await torn.loadWork(id);
  expect([work.inbox[0]?.text.length, work.history[0]?.text.length]).toEqual([1_048_576, 1_048_576]);
  expect((await torn.history(id))[0]?.text).toHaveLength(1_048_576);
  expect(missing).toEqual([]);
});

test('a message that is completed or dropped between two pages of a read is not in it', async () => {
  const { turns, accept, commit, id } = await open();
  await accept(long('l'));
  await accept(long('m'));
  const { inbox } = await turns.loadWork(id);
  await commit({ history: [said('m')] });
  let pages = 0;
  const torn = makeTurnStore(
    seeing(async (items) => {
      pages += 1;
      // The first page ends behind the items of both, and before the last of their parts.
      if (pages === 1) await commit({ completed: inbox[1], historyFrom: 1 });
      return items;
    }),
  );
  const work = await torn.loadWork(id);
  expect(work.inbox.map(({ messageId }) => messageId)).toEqual(['l']);
  expect([work.history, pages > 2]).toEqual([[], true]);
});

test('parts of another text are no parts of a message', async () => {
  const { turns, accept, id } = await open();
  await accept(long('m'));
  const { pk, sk } = keyOfPart(keys.inbox(id, 2000, 'm'), 1);
  const Item = { pk, sk, packed: gzipSync('other'), digest: 'other' };
  await fixture.table.client.send(new PutCommand({ TableName: fixture.table.name, Item }));
  await expect(turns.loadWork(id)).rejects.toThrow('is missing');
  const { pk: ofHistory, sk: first } = keyOfPart(keys.message(id, 0), 1);
  expect(ofHistory).toBe(pk);
  expect(first).not.toBe(sk);
});

test('a branch has a copy in parts, which is deleted as its own', async () => {
  const { turns, create, read, partsOf, writeTo } = await open();
  const other = await create(newSession());
  const history = [said('a', 'short'), said('b')];
  const noted = { type: 'system', data: { kind: 'note', text: 'copied' } } as const;
  const copied = await turns.continueFrom(await read(other.id), { history, events: [], note: noted, at: 5 });
  expect(copied).toMatchObject({ id: other.id });
  expect((await turns.history(other.id))[1]?.text === history[1]?.text).toBe(true);
  expect(await partsOf(other.id)).toEqual(['MESSAGEPART#1', 'MESSAGEPART#2']);
  await writeTo(other.id, { historyFrom: 2 });
  expect(await partsOf(other.id)).toEqual([]);
});

test('a session that is deleted leaves no part', async () => {
  const { accept, commit, remove, partsOf, id } = await open();
  await accept(long('m'));
  await commit({ history: [said('m')] });
  expect(await partsOf()).toHaveLength(4);
  expect(await remove(id)).toBe(true);
  expect(await partsOf()).toEqual([]);
});
