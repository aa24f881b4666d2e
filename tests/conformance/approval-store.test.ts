/** The list of what waits, and turns that are longer than an item, on the table. */

import { randomBytes } from 'node:crypto';
import { QueryCommand } from '@aws-sdk/lib-dynamodb';
import { describe, expect, test } from 'vitest';
import { makeApprovalStore } from '#shared/adapters/aws/dynamo/approvals.ts';
import { makeConnectionStore } from '#shared/adapters/aws/dynamo/connection-store.ts';
import { keys, type Table } from '#shared/adapters/aws/dynamo/table.ts';
import { makeTurnStore } from '#shared/adapters/aws/dynamo/turn-store.ts';
import type { CallId, ConnectionId, MessageId, TurnId } from '#shared/domain/ids.ts';
import { deploymentOwner } from '#shared/domain/principal.ts';
import type { Session } from '#shared/domain/session.ts';
import type { Deciding } from '#shared/domain/turn/turn.ts';
import { type WaitingChange, waitingChange } from '#shared/domain/turn/waiting-call.ts';
import { newSession, onTable } from './session-fixture.ts';
import { openFileTable } from './table-fixture.ts';

const fixture = openFileTable();

const deciding = (askedAt: string, content = 'x'): Deciding => ({
  ...{ kind: 'deciding', turnId: 't' as TurnId, messageId: 'm' as MessageId, step: 1, spentUsd: 0 },
  ...{ usage: { inputTokens: 0, outputTokens: 0 }, policy: { mode: 'ask', grants: [] } },
  calls: [
    {
      ...{ callId: 'c' as CallId, name: 'write_file', args: { content }, askedHuman: true },
      ...{ status: 'pending', digest: 'd', askedAt },
    },
  ],
});
const idle = { kind: 'idle' } as const;
const nothing = { at: 1, log: [], history: [], release: false, wakes: false, dueAt: 1 } as const;

const commit = async (
  { id }: Pick<Session, 'id'>,
  state: Deciding | typeof idle,
  table: Table = fixture.table,
): Promise<WaitingChange | undefined> => {
  const found = await makeTurnStore(table).getWithTurn(id);
  if (found === undefined) throw new Error('the session is gone');
  const { session, turn } = found;
  const waiting = waitingChange(turn.state, state);
  const result = await makeTurnStore(table).commit({ ...turn, ...nothing, session, state, waiting });
  expect(result.status).toBe('committed');
  return waiting;
};

describe('a pending approval', () => {
  const second = (seconds: number): string => new Date(seconds * 1000).toISOString();

  test('is listed oldest first, page by page, for all, for a project or for an owner', async () => {
    const { create } = onTable(fixture.table);
    const approvals = makeApprovalStore(fixture.table);
    const made: Session[] = [];
    for (const place of [3, 1, 2]) {
      const session = await create(newSession());
      await commit(session, deciding(second(place)));
      made[place] = session;
    }
    const [, first, middle, last] = made as [never, Session, Session, Session];
    const ids = [first.id, middle.id, last.id];
    const { waiting } = await approvals.list({}, { itemsMax: 100 });
    expect(waiting.map(({ sessionId }) => sessionId)).toEqual(ids);
    const page = await approvals.list({}, { itemsMax: 2 });
    const rest = await approvals.list({}, { itemsMax: 2, after: page.next });
    expect([...page.waiting, ...rest.waiting]).toEqual(waiting);
    expect(await approvals.count({})).toBe(3);
    expect(await approvals.count({ project: middle.project })).toBe(1);
    expect(await approvals.count({ project: middle.project, owner: first.owner })).toBe(0);
    expect((await approvals.list({ owner: last.owner }, { itemsMax: 9 })).waiting).toEqual([
      {
        ...{ sessionId: last.id, project: last.project, owner: last.owner, turnId: 't', callId: 'c' },
        askedAt: second(3),
      },
    ]);
    for (const session of [first, middle, last]) await commit(session, idle);
    expect(await approvals.list({}, { itemsMax: 9 })).toEqual({ waiting: [] });
  });

  test('is one entry while one call follows another', async () => {
    const session = await onTable(fixture.table).create(newSession());
    await commit(session, deciding(second(5)));
    expect(await commit(session, deciding(second(5)))).toBeUndefined();
    expect(await commit(session, deciding(second(6)))).toMatchObject({ removed: second(5) });
    expect(await makeApprovalStore(fixture.table).count({ owner: session.owner })).toBe(1);
    expect(await commit(session, idle)).toEqual({ removed: second(6) });
  });
});

test('sockets without a session are stored with their permissions, until they close', async () => {
  const connections = makeConnectionStore(fixture.table);
  const principal = { owner: deploymentOwner, scope: 'admin', tokenHash: 'h', name: 'admin' } as const;
  const id = crypto.randomUUID() as ConnectionId;
  await connections.put({ id, principal, connectedAt: 1 });
  expect(await connections.approvers()).toEqual([{ id, principal }]);
  expect(await connections.remove(id)).toEqual({ id, principal, connectedAt: 1 });
  expect(await connections.approvers()).toEqual([]);
});

describe('a turn that is longer than an item', () => {
  const content = randomBytes(900_000).toString('base64');
  const partsOf = async ({ id }: Session): Promise<readonly string[]> => {
    const { Items = [] } = await fixture.table.client.send(
      new QueryCommand({
        TableName: fixture.table.name,
        KeyConditionExpression: 'pk = :pk AND sk BETWEEN :from AND :to',
        ExpressionAttributeValues: { ':pk': keys.session(id).pk, ':from': 'STATE#', ':to': 'TURN' },
      }),
    );
    return Items.map(({ sk }) => String(sk));
  };

  test('is read as it was written, and deletes its parts with it', async () => {
    const { turns, create } = onTable(fixture.table);
    const session = await create(newSession());
    const state = deciding('2026-01-01T00:00:00.000Z', content);
    await commit(session, state);
    expect(await partsOf(session)).toEqual(['STATE#1', 'STATE#2', 'TURN']);
    expect((await turns.getWithTurn(session.id))?.turn.state).toEqual(state);
    expect((await turns.loadWork(session.id)).turn.state).toEqual(state);
    expect((await turns.getManyWithTurn([session.id]))[0]?.turn.state).toEqual(state);
    expect(await turns.readVersion(session.id)).toEqual({ version: 1, subscribers: [] });
    await commit(session, deciding('2026-01-01T00:00:00.000Z', content.slice(0, 600_000)));
    expect(await partsOf(session)).toEqual(['STATE#1', 'TURN']);
    await commit(session, idle);
    expect(await partsOf(session)).toEqual(['TURN']);
  });

  test('is read again when it was written between two parts of one read', async () => {
    const { create } = onTable(fixture.table);
    const session = await create(newSession());
    const next = deciding('2026-01-01T00:00:00.000Z', content.toLowerCase());
    await commit(session, deciding('2026-01-01T00:00:00.000Z', content));
    let isTorn = false;
    const send = async (command: never): Promise<unknown> => {
      const answer = await fixture.table.client.send(command);
      if (!isTorn) {
        isTorn = true;
        await commit(session, next);
      }
      return answer;
    };
    const torn: Table = { ...fixture.table, client: { send } as unknown as Table['client'] };
    expect((await makeTurnStore(torn).getWithTurn(session.id))?.turn).toMatchObject({
      version: 2,
      state: next,
    });
    expect(isTorn).toBe(true);
    await commit(session, idle);
  });
});
