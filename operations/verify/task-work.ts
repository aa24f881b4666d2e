/** Work of the adapter of ECS on any implementation, with tasks that run there: the result of each step, as text. */
import { setTimeout as sleep } from 'node:timers/promises';
import { ECSClient } from '@aws-sdk/client-ecs';
import { makeSandboxHost } from '#shared/adapters/aws/ecs-sandbox-host.ts';
import type { HostTask, SandboxHost } from '#shared/ports/sandbox.ts';
import { optionsOf, record, type Seen, type Service } from './service-work.ts';

export type Placed = Service & { readonly subnet: string };
export const clusterName = 'sallyport';

const secondsMax = 60;

export const taskWork = async (service: Placed): Promise<Seen> => {
  const client = new ECSClient(optionsOf(service));
  const host = makeSandboxHost(client, {
    cluster: clusterName,
    deployment: 'verify',
    taskDefinitions: {
      python: 'sallyport-python',
      node: 'sallyport-node',
      lost: 'sallyport-lost',
    },
    subnets: [service.subnet],
    securityGroup: 'sg-local',
  });
  const task = {
    token: '6f1d2c3b-0000-4000-8000-000000000001:7',
    group: 'workspace/6f1d2c3b-0000-4000-8000-000000000001/7',
    flavor: 'micro',
    template: 'python',
    bearerHash: 'ab'.repeat(32),
  } as const;
  const { seen, step } = record();
  let arn = '';
  await step('start', async () => {
    arn = await host.start(task);
    return /^arn:aws:ecs:[a-z0-9-]+:\d{12}:task\/sallyport\/[0-9a-f-]+$/.test(arn);
  });
  await step('start again with the same token', async () => (await host.start(task)) === arn);
  await step('start from a definition that is missing', () =>
    host.start({ ...task, token: 'another', template: 'lost' }),
  );
  const here = async () => only(await host.describe([arn]));
  await step('describe', async () => stated(await until(here, ({ lastStatus }) => lastStatus === 'RUNNING')));
  await step('describe one that never was', async () => {
    return (await host.describe([arn, unknown(arn)])).length;
  });
  await step('list those that run', async () =>
    (await Array.fromAsync(host.running())).flat().some(({ taskArn }) => taskArn === arn),
  );
  await step('stop', async () => (await host.stop(arn, 'the work is done'))?.taskArn === arn);
  await step('describe what was stopped', async () =>
    stated(await until(here, ({ lastStatus }) => lastStatus === 'STOPPED')),
  );
  await step('stop it again', async () => (await host.stop(arn, 'again'))?.lastStatus);
  await step('list what was stopped', async () =>
    (await Array.fromAsync(host.running())).flat().some(({ taskArn }) => taskArn === arn),
  );
  await step('stop one that never was', () => host.stop(unknown(arn), 'none'));
  await stopAll(host);
  client.destroy();
  return seen;
};

const unknown = (arn: string): string => arn.replace(/[^/]+$/, '0'.repeat(32));

const only = ([task]: readonly HostTask[]): HostTask => {
  if (task === undefined) throw new Error('the task is not known');
  return task;
};

const until = async (ask: () => Promise<HostTask>, holds: (task: HostTask) => boolean): Promise<HostTask> => {
  for (let second = 0; second < secondsMax; second += 1) {
    const task = await ask();
    if (holds(task)) return task;
    await sleep(1000);
  }
  return ask();
};

const stated = ({ group, lastStatus, createdAt, address, stoppedReason }: HostTask) => ({
  ...{ group, lastStatus, isCreated: createdAt > 0, hasAddress: address !== undefined, stoppedReason },
});

const stopAll = async (host: SandboxHost): Promise<void> => {
  for await (const tasks of host.running())
    for (const { taskArn } of tasks) await host.stop(taskArn, 'the end');
};
