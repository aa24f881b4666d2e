/**
 * The operations of EventBridge Scheduler, in the shapes of its API reference. Only one-time schedules in UTC are
 * implemented; recurring ones, flexible windows and custom groups are refused by name.
 */
import type { CreateScheduleCommandInput } from '@aws-sdk/client-scheduler';
import { accountId, region } from '../endpoint/account.ts';
import { AwsError } from '../endpoint/aws-error.ts';
import type { ScheduleRegistry, StoredSchedule } from './schedule-registry.ts';

export type ScheduleRequest = {
  readonly name: string;
  readonly group: string;
  readonly input: Partial<CreateScheduleCommandInput>;
};

export type Operation = (registry: ScheduleRegistry, request: ScheduleRequest) => unknown;

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
  if (Target.Input !== undefined && !isJson(Target.Input)) throw invalid('Target.Input is not JSON.');
  return { ...input, Name: name, GroupName: group, at, createdAt: now } as StoredSchedule;
};

const isJson = (text: string): boolean => {
  try {
    JSON.parse(text);
    return true;
  } catch {
    return false;
  }
};

export const operations: Readonly<Record<string, Operation>> = {
  POST: createSchedule,
  PUT: updateSchedule,
  GET: getSchedule,
  DELETE: deleteSchedule,
};
