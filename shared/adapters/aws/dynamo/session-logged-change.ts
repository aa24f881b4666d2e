/** A change of what the client of a session chose, with the entry of the log that says so, in one write. */
import { GetCommand, TransactWriteCommand } from '@aws-sdk/lib-dynamodb';
import { numberEntries } from '#shared/domain/event-log.ts';
import type { SessionStore } from '#shared/ports/session-store.ts';
import { isUnsealed } from './session-conditions.ts';
import { changeDetails, expressionsOf, mapOf, updateOf } from './session-details.ts';
import { sessionFrom } from './session-items.ts';
import { keys, type Table } from './table.ts';
import { transact } from './transaction.ts';
import { logActions } from './turn-commit.ts';

/** The log of an ended session may be sealed: its change has no entry then. */
export const changeLogged =
  (table: Table): SessionStore['changeLogged'] =>
  async (id, change, { read, entries, at }) => {
    const { client, name: TableName } = table;
    const Key = keys.session(id);
    const { Item } = await client.send(new GetCommand({ TableName, Key, ConsistentRead: true }));
    if (Item === undefined) return undefined;
    if (Item['isSealed'] === true) {
      const session = await changeDetails(table)(id, change, read);
      return session && { session, events: [] };
    }
    const { lastSeq } = sessionFrom(Item);
    const events = numberEntries(entries, { firstSeq: lastSeq + 1, at });
    const newSeq = lastSeq + events.length;
    const { conditions, set, removed, names, values } = expressionsOf(change, read);
    const changed = {
      Update: {
        ...{ TableName, Key },
        ConditionExpression: [...conditions, 'lastSeq = :lastSeq', isUnsealed].join(' AND '),
        UpdateExpression: updateOf({ set: ['lastSeq = :newSeq', ...set], removed }),
        ExpressionAttributeNames: mapOf(names),
        ExpressionAttributeValues: mapOf([...values, [':lastSeq', lastSeq], [':newSeq', newSeq]]),
      },
    };
    const actions = [changed, ...logActions(TableName, id, events)];
    if ((await transact(table, new TransactWriteCommand({ TransactItems: actions }))) !== 'done')
      return undefined;
    const item = Object.entries({ ...Item, ...change, lastSeq: newSeq }).filter(
      ([, value]) => value !== undefined,
    );
    return { session: sessionFrom(Object.fromEntries(item)), events };
  };
