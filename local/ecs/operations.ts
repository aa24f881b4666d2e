/** What each ECS operation answers, in the shapes of its API reference. */
import type {
  DescribeTasksCommandInput,
  ListTasksCommandInput,
  RunTaskCommandInput,
  StopTaskCommandInput,
} from '@aws-sdk/client-ecs';
import { AwsError } from '../endpoint/aws-error.ts';
import { type FaultPlan, isStopFailing, isThrottled } from './faults.ts';
import { treeParentsOf, withoutTags } from './task.ts';
import type { TaskRegistry } from './task-registry.ts';

export type Cluster = { readonly tasks: TaskRegistry; readonly faults: FaultPlan };

/** The input is the request's JSON, as the SDK wrote it. */
export type Operation = (cluster: Cluster, input: Input) => unknown;

type Input = RunTaskCommandInput & StopTaskCommandInput & DescribeTasksCommandInput & ListTasksCommandInput;

const taskDefinitions = ['sallyport-python', 'sallyport-node'];
const describedTasksMax = 100;
/** Fargate names no resource, and answers 200: https://github.com/gchq/sleeper/issues/904. */
const withoutCapacity = {
  reason: 'Capacity is unavailable at this time. Please try again later or in a different availability zone',
};

const invalid = (message: string): AwsError => new AwsError(400, 'InvalidParameterException', { message });

const runTask = ({ tasks, faults }: Cluster, input: RunTaskCommandInput) => {
  if (isThrottled(faults.current(), faults.count('run')))
    throw new AwsError(400, 'ThrottlingException', { message: 'Rate exceeded' });
  if (!taskDefinitions.includes(treeParentsOf(input.taskDefinition ?? '')))
    throw new AwsError(400, 'ClientException', { message: 'Unable to describe task definition.' });
  const task = tasks.run(input);
  return task === undefined ? { tasks: [], failures: [withoutCapacity] } : { tasks: [task], failures: [] };
};

const stopTask = (
  { tasks, faults }: Cluster,
  { task = '', reason = 'Task stopped by user' }: StopTaskCommandInput,
) => {
  if (isStopFailing(faults.current(), faults.count('stop')))
    throw new AwsError(500, 'ServerException', { message: 'Service Unavailable. Please try again later.' });
  const stopped = tasks.stop(task, reason);
  if (stopped !== undefined) return { task: withoutTags(stopped) };
  throw invalid('The referenced task was not found.');
};

const describeTasks = (
  { tasks }: Cluster,
  { tasks: wanted = [], include = [] }: DescribeTasksCommandInput,
) => {
  if (wanted.length > describedTasksMax) throw invalid('Tasks can have at most 100 elements.');
  const found = wanted.map((reference) => tasks.find(reference));
  const missing = wanted.filter((_, index) => found[index] === undefined);
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
  const wanted = tasks
    .all()
    .filter(
      (task) =>
        task.desiredStatus === desiredStatus && (startedBy === undefined || task.startedBy === startedBy),
    );
  const from = Number(nextToken);
  const page = wanted.slice(from, from + Math.min(maxResults ?? describedTasksMax, describedTasksMax));
  const next = from + page.length;
  return {
    taskArns: page.map(({ taskArn }) => taskArn),
    ...(next < wanted.length ? { nextToken: String(next) } : {}),
  };
};

export const operations: Readonly<Record<string, Operation>> = {
  RunTask: runTask,
  StopTask: stopTask,
  DescribeTasks: describeTasks,
  ListTasks: listTasks,
};
