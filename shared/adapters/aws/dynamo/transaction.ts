/**
 * Transactions: conflicts with another writer are retried at once, lost conditions are returned.
 *
 * A TransactionConflict says only that two writers met, not that a condition failed
 * (https://docs.aws.amazon.com/amazondynamodb/latest/developerguide/transaction-apis.html).
 */
import type { TransactWriteCommand } from '@aws-sdk/lib-dynamodb';
import { type Cancellation, cancellations, type Table } from './table.ts';

const conflictTriesMax = 12;
const conflictDelayMsMax = 400;

/** `done`, or the reason for which each action was refused. Throws when writers still meet after all tries. */
export const sendWithRetry = async (
  { client, jitter }: Table,
  command: TransactWriteCommand,
): Promise<'done' | readonly Cancellation[]> => {
  for (let attempt = 1; ; attempt += 1) {
    try {
      await client.send(command);
      return 'done';
    } catch (error) {
      const reasons = cancellations(error);
      if (reasons === undefined) throw error;
      if (reasons.some(({ code }) => code === 'ConditionalCheckFailed')) return reasons;
      if (attempt === conflictTriesMax) throw error;
      await jitter(pauseMsMax(attempt));
    }
  }
};

/** Sends a single write, and retries it while a transaction holds its item. */
export const pastConflicts = async <Output>(
  { jitter }: Table,
  write: () => Promise<Output>,
): Promise<Output> => {
  for (let attempt = 1; ; attempt += 1) {
    try {
      return await write();
    } catch (error) {
      if (!isConflict(error) || attempt === conflictTriesMax) throw error;
      await jitter(pauseMsMax(attempt));
    }
  }
};

const isConflict = (error: unknown): boolean =>
  error instanceof Error && error.name === 'TransactionConflictException';

const pauseMsMax = (attempt: number): number => Math.min(conflictDelayMsMax, 5 * 2 ** attempt);
