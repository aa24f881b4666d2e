/**
 * Conflicts with running transactions: retried for every request, the single writes too, since the client library retries
 * none of them. A conflict says only that two writers met, not that a condition failed
 * (https://docs.aws.amazon.com/amazondynamodb/latest/developerguide/transaction-apis.html).
 */
import type { DynamoDBDocumentClient, TransactWriteCommand } from '@aws-sdk/lib-dynamodb';
import { type Cancellation, cancellations, type Table } from './table.ts';

const triesMax = 12;
const pauseMsMax = 400;

/** The table over a client: every request is sent again while it meets a transaction. */
export const makeTable = ({ client, name, jitter }: Table): Table => {
  const sendOnce = client.send.bind(client) as (...request: readonly unknown[]) => Promise<unknown>;
  const send = async (...request: readonly unknown[]): Promise<unknown> => {
    for (let attempt = 1; ; attempt += 1) {
      try {
        return await sendOnce(...request);
      } catch (error) {
        if (!isPassing(error) || attempt === triesMax) throw error;
        await jitter(Math.min(pauseMsMax, 5 * 2 ** attempt));
      }
    }
  };
  return { name, jitter, client: { send } as unknown as DynamoDBDocumentClient };
};

/** A transaction is also cancelled where it is throttled; none of its conditions has failed then. */
const isPassing = (error: unknown): boolean => {
  if (error instanceof Error && error.name === 'TransactionConflictException') return true;
  const codes = cancellations(error)?.map(({ code }) => code) ?? [];
  return codes.some((code) => passing.includes(code)) && !codes.includes('ConditionalCheckFailed');
};

const passing = ['TransactionConflict', 'ThrottlingError', 'ProvisionedThroughputExceeded'];

/** `done`, or the reason for which each action was refused. */
export const transact = async (
  { client }: Table,
  command: TransactWriteCommand,
): Promise<'done' | readonly Cancellation[]> => {
  try {
    await client.send(command);
    return 'done';
  } catch (error) {
    const reasons = cancellations(error);
    if (reasons?.some(({ code }) => code === 'ConditionalCheckFailed')) return reasons;
    throw error;
  }
};
