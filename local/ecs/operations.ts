/** What each ECS operation answers, in the shapes of its API reference. */
import type {
  DescribeTasksCommandInput,
  ListTasksCommandInput,
  RunTaskCommandInput,
  StopTaskCommandInput,
} from '@aws-sdk/client-ecs';
import { AwsError } from '../endpoint/aws-error.ts';
import type { TaskRegistry } from './task-registry.ts';

/** The input is the request's JSON, as the SDK wrote it. */
export type Operation = (tasks: TaskRegistry, input: Input) => unknown;

type Input = RunTaskCommandInput & StopTaskCommandInput & DescribeTasksCommandInput & ListTasksCommandInput;

const taskDefinitions = ['sallyport-python', 'sallyport-node'];
const describedTasksMax = 100;

const runTask = (tasks: TaskRegistry, input: RunTaskCommandInput) => {
  if (!taskDefinitions.includes(input.taskDefinition ?? ''))
    throw new AwsError(400, 'ClientException', { message: 'Unable to describe task definition.' });
  return { tasks: [tasks.run(input)], failures: [] };
};

const stopTask = (
  tasks: TaskRegistry,
  { task = '', reason = 'Task stopped by user' }: StopTaskCommandInput,
) => {
  const stopped = tasks.stop(task, reason);
  if (stopped !== undefined) return { task: stopped };
  throw new AwsError(400, 'InvalidParameterException', { message: 'The referenced task was not found.' });
};

const describeTasks = (tasks: TaskRegistry, { tasks: wanted = [] }: DescribeTasksCommandInput) => {
  if (wanted.length > describedTasksMax)
    throw new AwsError(400, 'InvalidParameterException', { message: 'Tasks can have at most 100 elements.' });
  const found = wanted.map((reference) => tasks.find(reference));
  const missing = wanted.filter((_, index) => found[index] === undefined);
  return {
    tasks: found.filter((task) => task !== undefined),
    failures: missing.map((arn) => ({ arn, reason: 'MISSING' })),
  };
};

const listTasks = (
  tasks: TaskRegistry,
  { startedBy, desiredStatus = 'RUNNING', nextToken }: ListTasksCommandInput,
) => {
  const wanted = tasks
    .all()
    .filter(
      (task) =>
        task.desiredStatus === desiredStatus && (startedBy === undefined || task.startedBy === startedBy),
    );
  const from = Number(nextToken ?? 0);
  const page = wanted.slice(from, from + describedTasksMax);
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
