/** The limits of requests, and that what the program sends is within them. */
import type { RunTaskCommand, RunTaskCommandInput } from '@aws-sdk/client-ecs';
import { ECSClient } from '@aws-sdk/client-ecs';
import { expect, test } from 'vitest';
import { makeSandboxHost } from '#shared/adapters/aws/ecs-sandbox-host.ts';
import { flavorNames } from '#shared/domain/flavor.ts';
import { refuseImpossibleTask, refuseLongReason } from './request-limits.ts';

const sentFor = async (flavor: (typeof flavorNames)[number]): Promise<RunTaskCommandInput> => {
  const sent: RunTaskCommandInput[] = [];
  const client = new ECSClient({ region: 'us-east-1' });
  client.send = (async ({ input }: RunTaskCommand) => {
    sent.push(input);
    return { tasks: [{ taskArn: 'arn' }] };
  }) as typeof client.send;
  const host = makeSandboxHost(client, {
    cluster: 'sallyport',
    deployment: 'sallyport-production',
    taskDefinitions: { python: 'sallyport-python', node: 'sallyport-node' },
    subnets: ['subnet-1', 'subnet-2', 'subnet-3'],
    securityGroup: 'sg-1',
  });
  const id = '6f1d2c3b-0000-4000-8000-000000000001';
  const name = {
    token: `${id}:${Number.MAX_SAFE_INTEGER}`,
    group: `workspace/${id}/1`,
    bearerHash: 'ab'.repeat(32),
  };
  await host.start({ ...name, flavor, template: 'python', withoutShared: true });
  return sent[0] as RunTaskCommandInput;
};

test.each(flavorNames)('A30: what the program asks for a %s sandbox is accepted', async (flavor) => {
  const sent = await sentFor(flavor);
  expect(sent.launchType).toBe('FARGATE');
  expect(() => refuseImpossibleTask(sent)).not.toThrow();
});

const container = { name: 'sandbox', memory: 576 };
test.each<[string, Partial<RunTaskCommandInput>, string]>([
  ['a long client token', { clientToken: 'x'.repeat(65) }, 'InvalidParameterException'],
  ['a client token with a space', { clientToken: 'a b' }, 'InvalidParameterException'],
  ['a long starter', { startedBy: 'x'.repeat(129) }, 'InvalidParameterException'],
  ['a starter with a point', { startedBy: 'a.b' }, 'InvalidParameterException'],
  ['eleven tasks', { count: 11 }, 'InvalidParameterException'],
  ['a task of Fargate without a network', { networkConfiguration: undefined }, 'InvalidParameterException'],
  ['a size that is not sold', { overrides: { cpu: '512', memory: '8192' } }, 'ClientException'],
  ['a size between two', { overrides: { cpu: '256', memory: '1536' } }, 'ClientException'],
  [
    'another container',
    { overrides: { containerOverrides: [{ name: 'other' }] } },
    'InvalidParameterException',
  ],
  [
    'a container larger than its task',
    { overrides: { cpu: '256', memory: '512', containerOverrides: [container] } },
    'InvalidParameterException',
  ],
  [
    'long variables',
    {
      overrides: {
        containerOverrides: [{ ...container, environment: [{ name: 'A', value: 'x'.repeat(8192) }] }],
      },
    },
    'InvalidParameterException',
  ],
])('A30: %s is refused', async (_what, change, name) => {
  const sent = await sentFor('micro');
  expect(() => refuseImpossibleTask({ ...sent, ...change })).toThrow(
    expect.objectContaining({ status: 400, name }),
  );
});

test('A30: a stop with a reason of more than 255 characters is refused', () => {
  expect(() => refuseLongReason('x'.repeat(255))).not.toThrow();
  expect(() => refuseLongReason('x'.repeat(256))).toThrow('Reason length must be at most 255.');
});
