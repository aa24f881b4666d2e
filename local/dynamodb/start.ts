/**
 * DynamoDB on one machine: dynoxide on a data folder, or whatever endpoint the caller names.
 *
 * It makes the one table if it is missing and sweeps expired items. Which endpoint answers is nobody
 * else's business: the returned URL goes into `AWS_ENDPOINT_URL_DYNAMODB`.
 */
import { type CreateTableCommandInput, DynamoDBClient } from '@aws-sdk/client-dynamodb';
import { startDynoxide } from './dynoxide.ts';
import { ensureTable } from './ensure-table.ts';
import { startSweep } from './expiry-sweep.ts';

export type DynamoDbOptions = {
  readonly folder: string;
  readonly table: CreateTableCommandInput;
  /** The attribute that holds the time of expiry, in epoch seconds. */
  readonly expiryAttribute: string;
  /** Another DynamoDB to use instead of starting one. */
  readonly endpoint?: string | undefined;
  readonly sweepIntervalMs?: number;
};

export type DynamoDbEndpoint = { readonly url: string; readonly stop: () => Promise<void> };

const sweepIntervalMsDefault = 60_000;

export const start = async (options: DynamoDbOptions): Promise<DynamoDbEndpoint> => {
  const server =
    options.endpoint === undefined ? await startDynoxide(options.folder) : borrow(options.endpoint);
  const client = new DynamoDBClient({
    endpoint: server.url,
    region: 'us-east-1',
    credentials: { accessKeyId: 'local', secretAccessKey: 'local' },
  });
  try {
    await ensureTable(client, options.table, options.expiryAttribute);
  } catch (cause) {
    client.destroy();
    await server.stop();
    throw cause;
  }
  const sweep = startSweep(client, {
    table: options.table,
    attribute: options.expiryAttribute,
    intervalMs: options.sweepIntervalMs ?? sweepIntervalMsDefault,
  });
  return {
    url: server.url,
    stop: async () => {
      await sweep.stop();
      client.destroy();
      await server.stop();
    },
  };
};

const borrow = (url: string): DynamoDbEndpoint => ({ url, stop: () => Promise.resolve() });
