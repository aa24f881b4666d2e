/**
 * DynamoDB on one machine: dynoxide on a data folder, or whatever endpoint the caller names.
 *
 * It makes the one table if it is missing and sweeps expired items. No caller sees which server answers:
 * the returned URL is that of a front which answers the keys of this start alone.
 */
import { type CreateTableCommandInput, DynamoDBClient } from '@aws-sdk/client-dynamodb';
import { type Credentials, type Keys, makeKeys } from '../endpoint/keys.ts';
import { region } from '../lambda/function-definition.ts';
import { type OtherDynamoDb, openDynoxide, openOther } from './behind.ts';
import { ensureTable } from './ensure-table.ts';
import { startSweep } from './expiry-sweep.ts';
import { openFront } from './front.ts';

export type DynamoDbOptions = {
  readonly folder: string;
  readonly table: CreateTableCommandInput;
  /** The attribute that holds the time of expiry, in epoch seconds. */
  readonly expiryAttribute: string;
  /** Another DynamoDB to use instead of starting one. */
  readonly other?: OtherDynamoDb | undefined;
  readonly sweepIntervalMs?: number;
  readonly keys?: Keys;
};

export type DynamoDbEndpoint = {
  readonly url: string;
  readonly credentials: Credentials;
  readonly stop: () => Promise<void>;
};

const sweepIntervalMsDefault = 60_000;

export const start = async (options: DynamoDbOptions): Promise<DynamoDbEndpoint> => {
  const { other, keys = makeKeys() } = options;
  await using starting = new AsyncDisposableStack();
  const behind = other === undefined ? await openDynoxide(options.folder, starting) : openOther(other);
  const front = await openFront(behind, keys);
  starting.defer(front.stop);
  const credentials = keys.issue('local');
  const client = new DynamoDBClient({ endpoint: front.url, region, credentials });
  starting.defer(() => client.destroy());
  await ensureTable(client, options.table, options.expiryAttribute);
  const sweep = startSweep(client, {
    table: options.table,
    attribute: options.expiryAttribute,
    intervalMs: options.sweepIntervalMs ?? sweepIntervalMsDefault,
  });
  starting.defer(sweep.stop);
  const running = starting.move();
  return { url: front.url, credentials, stop: () => running.disposeAsync() };
};
