/**
 * EventBridge Scheduler on one machine: one-time schedules that survive a restart and invoke functions, for the real
 * `@aws-sdk/client-scheduler`.
 *
 * Targets are invoked asynchronously (A29). An event that could not be delivered becomes a line of
 * `dead-letters.jsonl`, where AWS has a queue.
 */
import { appendFile } from 'node:fs/promises';
import type { IncomingMessage, ServerResponse } from 'node:http';
import { join } from 'node:path';
import { type Credentials, type Keys, makeKeys } from '../endpoint/account.ts';
import { AwsError } from '../endpoint/aws-error.ts';
import { readBody } from '../endpoint/http-body.ts';
import { listenSigned } from '../endpoint/listen.ts';
import { openRecordFiles } from '../endpoint/record-files.ts';
import type { FunctionHost } from '../lambda/function-host.ts';
import { operations } from './operations.ts';
import { openScheduleRegistry, type ScheduleRegistry, type StoredSchedule } from './schedule-registry.ts';

export type SchedulerOptions = {
  readonly folder: string;
  readonly functions: Pick<FunctionHost, 'invokeLater'>;
  /** Epoch milliseconds. */
  readonly now?: () => number;
  /** The interval in which due schedules are looked up. */
  readonly tickMs?: number;
  /** The wait before a target that could not be invoked is invoked again. */
  readonly retryMs?: number;
  readonly keys?: Keys;
};

export type SchedulerEndpoint = {
  readonly url: string;
  readonly credentials: Credentials;
  /** Begins to invoke; call it once the functions are deployed. */
  readonly fire: () => void;
  readonly stop: () => Promise<void>;
};

const bodyBytesMax = 64 * 1024;
const defaultTickMs = 250;
const defaultRetryMs = 1000;
const defaultGroup = 'default';
const route = /^\/schedules\/([^/]+)$/;
const ownFile = 0o600;

export const start = async ({
  folder,
  functions,
  now = Date.now,
  tickMs = defaultTickMs,
  retryMs = defaultRetryMs,
  keys = makeKeys(),
}: SchedulerOptions): Promise<SchedulerEndpoint> => {
  const registry = openScheduleRegistry({
    files: await openRecordFiles<StoredSchedule>(folder),
    invoke: ({ Arn = '', Input = '{}' }) => functions.invokeLater(Arn, Input),
    deadLetter: ({ Name, GroupName, Target }, problem) => {
      const letter = { at: new Date(now()).toISOString(), Name, GroupName, Input: Target?.Input, problem };
      return appendFile(join(folder, 'dead-letters.jsonl'), `${JSON.stringify(letter)}\n`, {
        mode: ownFile,
      });
    },
    now,
    tickMs,
    retryMs,
  });
  const server = await listenSigned((request, response) => answer(registry, request, response), { keys });
  return {
    url: server.url,
    credentials: keys.issue('local'),
    fire: registry.fire,
    stop: async () => {
      registry.stop();
      await server.stop();
    },
  };
};

const answer = async (
  registry: ScheduleRegistry,
  request: IncomingMessage,
  response: ServerResponse,
): Promise<void> => {
  const { pathname, searchParams } = new URL(`http://scheduler${request.url}`);
  const [, name] = route.exec(pathname) ?? [];
  const method = request.method ?? '';
  const operation = Object.hasOwn(operations, method) ? operations[method] : undefined;
  if (name === undefined || operation === undefined)
    throw new AwsError(404, 'UnknownOperationException', { Message: `no operation ${method} ${pathname}` });
  const input = inputOf(await readBody(request, bodyBytesMax));
  const group = input.GroupName ?? searchParams.get('groupName') ?? defaultGroup;
  const result = await operation(registry, { name: decodeURIComponent(name), group, input });
  response.writeHead(200, { 'content-type': 'application/json' });
  response.end(JSON.stringify(result));
};

const inputOf = (body: Buffer | undefined) => {
  if (body === undefined)
    throw new AwsError(413, 'ValidationException', { Message: 'the request is too large' });
  if (body.length === 0) return {};
  try {
    return JSON.parse(body.toString());
  } catch {
    throw new AwsError(400, 'ValidationException', { Message: 'the request is not JSON' });
  }
};
