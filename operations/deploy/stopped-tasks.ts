/**
 * The time that sandboxes needed to leave the network after their end, as ECS has recorded it of tasks of the last hour.
 *
 * A task is not stopped until its network interface is detached and deleted: its address is taken until then
 * (https://docs.aws.amazon.com/AmazonECS/latest/developerguide/task-lifecycle-explanation.html, DEPROVISIONING).
 */
import { type Aws, resourcesOf } from './aws.ts';

type Described = {
  readonly tasks: readonly { readonly executionStoppedAt?: string; readonly stoppedAt?: string }[];
};

/** As many as one call describes. */
const tasksMax = 100;

/** A sentence on them; undefined if the calls are refused with one of the codes. */
export const readLeaving = async (
  aws: Aws,
  deployment: string,
  refusals: readonly string[],
): Promise<string | undefined> => {
  const held = await resourcesOf(aws, `${deployment}-compute`);
  const seconds: number[] = [];
  for (const { physicalId: cluster } of held.filter(({ type }) => type === 'AWS::ECS::Cluster')) {
    const list = ['ecs', 'list-tasks', '--cluster', cluster, '--desired-status', 'STOPPED'] as const;
    const listed = await aws.find<{ readonly taskArns: readonly string[] }>(refusals, ...list);
    if (listed === undefined) return undefined;
    if (listed.taskArns.length === 0) continue;
    const describe = ['ecs', 'describe-tasks', '--cluster', cluster, '--tasks'] as const;
    const found = await aws.find<Described>(refusals, ...describe, ...listed.taskArns.slice(0, tasksMax));
    if (found === undefined) return undefined;
    seconds.push(...found.tasks.flatMap(secondsOf));
  }
  return textOfSeconds(seconds);
};

/** Absent times: it ended before it ran, or is still leaving. */
const secondsOf = ({ executionStoppedAt, stoppedAt }: Described['tasks'][number]): readonly number[] =>
  executionStoppedAt === undefined || stoppedAt === undefined
    ? []
    : [(Date.parse(stoppedAt) - Date.parse(executionStoppedAt)) / 1000];

const textOfSeconds = (seconds: readonly number[]): string =>
  seconds.length === 0
    ? 'No sandbox has ended in the last hour: how long one needs to leave the network is not known.'
    : `Sandboxes that ended in the last hour left the network in ${Math.min(...seconds).toFixed(1)} to ${Math.max(...seconds).toFixed(1)} s.`;
