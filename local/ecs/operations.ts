/**
 * The requests of the ECS endpoint: the operations of the SDK in the shapes of the API reference, and `POST /faults`,
 * which is ours and signed like them.
 */
import type { IncomingMessage, ServerResponse } from 'node:http';
import type {
  DescribeTasksCommandInput,
  ListTasksCommandInput,
  RunTaskCommandInput,
  StopTaskCommandInput,
} from '@aws-sdk/client-ecs';
import { languages, type Template } from '#shared/domain/template.ts';
import { AwsError, readBody } from '../endpoint/http-messages.ts';
import { decodeFaults, type FaultPlan, isStopFailing, isThrottled } from './faults.ts';
import { refuseImpossibleTask, refuseLongReason } from './request-limits.ts';
import { templateOf, withoutTags } from './task.ts';
import type { TaskRegistry } from './task-registry.ts';

export type Cluster = {
  readonly tasks: TaskRegistry;
  readonly faults: FaultPlan;
  /** Names of templates in addition to the platform's own. */
  readonly templates?: readonly Template[];
};

/** The input is the request's JSON, as the SDK wrote it. */
type Operation = (cluster: Cluster, input: Input) => unknown;

type Input = RunTaskCommandInput & StopTaskCommandInput & DescribeTasksCommandInput & ListTasksCommandInput;

const describedTasksMax = 100;
/** Fargate names no resource, and answers 200: https://github.com/gchq/sleeper/issues/904. */
const withoutCapacity = {
  reason: 'Capacity is unavailable at this time. Please try again later or in a different availability zone',
};

const invalid = (message: string): AwsError => new AwsError(400, 'InvalidParameterException', message);

const runTask = ({ tasks, faults, templates = [] }: Cluster, input: RunTaskCommandInput) => {
  if (isThrottled(faults.current(), faults.count('run')))
    throw new AwsError(400, 'ThrottlingException', 'Rate exceeded');
  if (![...languages, ...templates].includes(templateOf(input.taskDefinition ?? '')))
    throw new AwsError(400, 'ClientException', 'Unable to describe task definition.');
  refuseImpossibleTask(input);
  const task = tasks.run(input);
  return task === undefined ? { tasks: [], failures: [withoutCapacity] } : { tasks: [task], failures: [] };
};

const stopTask = (
  { tasks, faults }: Cluster,
  { task = '', reason = 'Task stopped by user' }: StopTaskCommandInput,
) => {
  if (isStopFailing(faults.current(), faults.count('stop')))
    throw new AwsError(500, 'ServerException', 'Service Unavailable. Please try again later.');
  refuseLongReason(reason);
  const stopped = tasks.stop(task, reason);
  if (stopped !== undefined) return { task: withoutTags(stopped) };
  throw invalid('The referenced task was not found.');
};

const describeTasks = (
  { tasks }: Cluster,
  { tasks: references = [], include = [] }: DescribeTasksCommandInput,
) => {
  if (references.length > describedTasksMax) throw invalid('Tasks can have at most 100 elements.');
  const found = references.map((reference) => tasks.find(reference));
  const missing = references.filter((_, index) => found[index] === undefined);
  const known = found.filter((task) => task !== undefined);
  return {
    tasks: include.includes('TAGS') ? known : known.map(withoutTags),
    failures: missing.map((arn) => ({ arn, reason: 'MISSING' })),
  };
};

const listTasks = (
  { tasks }: Cluster,
  { startedBy, desiredStatus = 'RUNNING', nextToken = '0', maxResults }: ListTasksCommandInput,
) => {
  if (!/^\d{1,9}$/.test(nextToken)) throw invalid('Invalid token.');
  const matching = tasks
    .all()
    .filter(
      (task) =>
        task.desiredStatus === desiredStatus && (startedBy === undefined || task.startedBy === startedBy),
    );
  const from = Number(nextToken);
  const page = matching.slice(from, from + Math.min(maxResults ?? describedTasksMax, describedTasksMax));
  const next = from + page.length;
  return {
    taskArns: page.map(({ taskArn }) => taskArn),
    ...(next < matching.length ? { nextToken: String(next) } : {}),
  };
};

export const operations: Readonly<Record<string, Operation>> = {
  RunTask: runTask,
  StopTask: stopTask,
  DescribeTasks: describeTasks,
  ListTasks: listTasks,
};

const bodyBytesMax = 256 * 1024;
const targetPrefix = 'AmazonEC2ContainerServiceV20141113.';

export const answer = async (
  cluster: Cluster,
  request: IncomingMessage,
  response: ServerResponse,
): Promise<void> => {
  if (request.method === 'POST' && request.url === '/faults')
    return replaceFaults(cluster, request, response);
  const target = String(request.headers['x-amz-target'] ?? '');
  const operation = target.startsWith(targetPrefix)
    ? operations[target.slice(targetPrefix.length)]
    : undefined;
  if (operation === undefined)
    throw new AwsError(400, 'UnknownOperationException', `unknown operation: ${target}`);
  const result = operation(cluster, JSON.parse((await bodyOf(request)) || '{}'));
  response.writeHead(200, { 'content-type': 'application/x-amz-json-1.1' });
  response.end(JSON.stringify(result));
};

const replaceFaults = async (
  { faults }: Cluster,
  request: IncomingMessage,
  response: ServerResponse,
): Promise<void> => {
  if (!request.headers['content-type']?.startsWith('application/json'))
    throw new AwsError(415, 'ClientException', 'faults are application/json');
  const decoded = decodeFaults(await bodyOf(request));
  if (!decoded.ok) throw new AwsError(400, 'ClientException', decoded.problem);
  faults.replace(decoded.faults);
  response.writeHead(204).end();
};

const bodyOf = async (request: IncomingMessage): Promise<string> => {
  const body = await readBody(request, bodyBytesMax);
  if (body === undefined) throw new AwsError(413, 'ClientException', 'the request is too large');
  return body.toString();
};
