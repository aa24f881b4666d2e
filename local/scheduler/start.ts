/**
 * EventBridge Scheduler on one machine: one-time schedules that survive a restart and invoke functions, for the real
 * `@aws-sdk/client-scheduler`.
 *
 * Only one-time schedules in UTC are implemented; recurring ones, flexible windows and custom groups are refused by
 * name. Targets are invoked asynchronously (A29). An event that could not be delivered becomes a line of
 * `dead-letters.jsonl`, where AWS has a queue.
 */
import { appendFile } from 'node:fs/promises';
import type { IncomingMessage, ServerResponse } from 'node:http';
import { join } from 'node:path';
import type { CreateScheduleCommandInput } from '@aws-sdk/client-scheduler';
import { accountId, type Keys, region } from '../endpoint/account.ts';
import { AwsError, parseJson, readBody } from '../endpoint/http-messages.ts';
import { type Endpoint, listenSigned } from '../endpoint/listen.ts';
import { openRecordFiles } from '../endpoint/record-files.ts';
import type { FunctionHost } from '../lambda/function-host.ts';
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

type SchedulerEndpoint = Endpoint & {
  /** Begins to invoke; call it once the functions are deployed. */
  readonly fire: () => void;
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
  keys,
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
    ...server,
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
  const input = parseJson(body.toString() || '{}');
  if (input !== undefined) return input as ScheduleRequest['input'];
  throw new AwsError(400, 'ValidationException', { Message: 'the request is not JSON' });
};

type ScheduleRequest = {
  readonly name: string;
  readonly group: string;
  readonly input: Partial<CreateScheduleCommandInput>;
};

type Operation = (registry: ScheduleRegistry, request: ScheduleRequest) => unknown;

/** https://docs.aws.amazon.com/scheduler/latest/APIReference/API_CreateSchedule.html */
const nameSyntax = /^[0-9a-zA-Z-_.]{1,64}$/;
/** https://docs.aws.amazon.com/scheduler/latest/UserGuide/schedule-types.html#one-time */
const oneTime = /^at\((\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d)\)$/;

const refusal = (status: number, name: string, Message: string): AwsError =>
  new AwsError(status, name, { Message });
const invalid = (Message: string): AwsError => refusal(400, 'ValidationException', Message);
const notFound = ({ name }: ScheduleRequest): AwsError =>
  refusal(404, 'ResourceNotFoundException', `Schedule ${name} does not exist.`);

const createSchedule: Operation = async (registry, request) => {
  const schedule = decode(request, registry.now());
  const existing = registry.find(schedule);
  if (existing !== undefined && existing.token !== request.input.ClientToken)
    throw refusal(409, 'ConflictException', `Schedule ${request.name} already exists.`);
  if (existing === undefined) await registry.put({ ...schedule, token: request.input.ClientToken });
  return { ScheduleArn: arnOf(schedule) };
};

const updateSchedule: Operation = async (registry, request) => {
  const schedule = decode(request, registry.now());
  const existing = registry.find(schedule);
  if (existing === undefined) throw notFound(request);
  await registry.put({ ...schedule, createdAt: existing.createdAt });
  return { ScheduleArn: arnOf(schedule) };
};

const getSchedule: Operation = (registry, request) => {
  const schedule = registry.find({ Name: request.name, GroupName: request.group });
  if (schedule === undefined) throw notFound(request);
  const { at: _, token: __, createdAt, ...shown } = schedule;
  return { ...shown, Arn: arnOf(schedule), CreationDate: createdAt / 1000 };
};

const deleteSchedule: Operation = async (registry, request) => {
  const schedule = registry.find({ Name: request.name, GroupName: request.group });
  if (schedule === undefined) throw notFound(request);
  await registry.remove(schedule);
  return {};
};

const arnOf = ({ GroupName, Name }: Pick<StoredSchedule, 'GroupName' | 'Name'>): string =>
  `arn:aws:scheduler:${region}:${accountId}:schedule/${GroupName}/${Name}`;

const decode = ({ name, group, input }: ScheduleRequest, now: number): StoredSchedule => {
  if (!nameSyntax.test(name)) throw invalid('Invalid name.');
  const { ScheduleExpression = '', FlexibleTimeWindow, Target } = input;
  const at = Date.parse(`${oneTime.exec(ScheduleExpression)?.[1]}Z`);
  if (Number.isNaN(at)) throw invalid(`Invalid Schedule Expression ${ScheduleExpression}.`);
  if ((input.ScheduleExpressionTimezone ?? 'UTC') !== 'UTC') throw invalid('Only UTC is implemented here.');
  if (FlexibleTimeWindow?.Mode !== 'OFF')
    throw invalid('Only a FlexibleTimeWindow of OFF is implemented here.');
  if (!Target?.Arn?.startsWith('arn:aws:lambda:') || !Target.RoleArn)
    throw invalid('Target: the ARN of a function and of a role.');
  if (Target.Input !== undefined && parseJson(Target.Input) === undefined)
    throw invalid('Target.Input is not JSON.');
  return { State: 'ENABLED', ...input, Name: name, GroupName: group, at, createdAt: now } as StoredSchedule;
};

const operations: Readonly<Record<string, Operation>> = {
  POST: createSchedule,
  PUT: updateSchedule,
  GET: getSchedule,
  DELETE: deleteSchedule,
};
