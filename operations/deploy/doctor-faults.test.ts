/** Faults put into a sound account on purpose, one at a time, as the answers of AWS show them: the doctor says each, and nothing else. */
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, describe, expect, test } from 'vitest';
import { doctorCommand } from './doctor.ts';
import { busyAccount, openMachine, usualFacts } from './fixtures/machine.ts';

type Account = Readonly<Record<string, unknown>>;

const answering = (call: string, answer: unknown): Account => ({ has: { ...usualFacts, [call]: answer } });
const withStack = (name: keyof typeof busyAccount.stacks, more: object): Account => ({
  stacks: { ...busyAccount.stacks, [name]: { ...busyAccount.stacks[name], ...more } },
});
const { 'sallyport-observability': _, ...withoutObservability } = busyAccount.stacks;
const onPath = (path: string, answer: string): Account => ({
  answers: { ...busyAccount.answers, [path]: answer },
});
const alarm = { AlarmName: 'sallyport-observability-A', StateValue: 'OK', ActionsEnabled: true };
const alarms = (more: object): Account =>
  answering('cloudwatch describe-alarms', { MetricAlarms: [{ ...alarm, ...more }] });
const vcpus = (Value: number): Account =>
  answering('service-quotas get-service-quota L-3032A538', { Quota: { Value } });
const concurrency = (ConcurrentExecutions: number): Account =>
  answering('lambda get-account-settings', {
    AccountLimit: { ConcurrentExecutions, UnreservedConcurrentExecutions: ConcurrentExecutions },
  });

/** In the words of docs/deploy.md. */
const faults: readonly (readonly [fault: string, account: Account, says: RegExp])[] = [
  [
    'a stack that was rolled back',
    withStack('sallyport-edge', { status: 'UPDATE_ROLLBACK_COMPLETE' }),
    /Note: stack sallyport-edge is UPDATE_ROLLBACK_COMPLETE/,
  ],
  ['a missing stack', { stacks: withoutObservability }, /Fault: stack sallyport-observability is missing/],
  [
    'resources changed by hand',
    withStack('sallyport-data', { drift: 'DRIFTED' }),
    /Note: resources of stack sallyport-data were changed by hand/,
  ],
  [
    'seals that are not locked',
    {
      ...withStack('sallyport-data', {
        resources: [
          ...busyAccount.stacks['sallyport-data'].resources,
          ['AWS::S3::Bucket', 'Seals1', 'sallyport-data-seals1'],
        ],
      }),
      ...answering('s3api get-object-lock-configuration', {
        ObjectLockConfiguration: { ObjectLockEnabled: 'Enabled' },
      }),
    },
    /Fault: new seals of the audit log can be deleted: bucket sallyport-data-seals1/,
  ],
  ['an alarm that rings', alarms({ StateValue: 'ALARM' }), /Note: the alarm sallyport-observability-A rings/],
  ['an alarm without actions', alarms({ ActionsEnabled: false }), /Note: the alarm \S+-A notifies no one/],
  [
    'a subscription that is not confirmed',
    answering('sns list-subscriptions-by-topic', {
      Subscriptions: [{ SubscriptionArn: 'PendingConfirmation', Endpoint: 'team@example.com' }],
    }),
    /Note: team@example\.com receives no alarm/,
  ],
  [
    'messages in a dead-letter queue',
    answering('sqs get-queue-attributes', { Attributes: { ApproximateNumberOfMessages: '3' } }),
    /Note: 3 invocations failed for good: they are in the queue failed/,
  ],
  [
    'a DNS firewall that fails open',
    answering('route53resolver get-firewall-config', { FirewallConfig: { FirewallFailOpen: 'ENABLED' } }),
    /Fault: sandboxes resolve any name while/,
  ],
  [
    'a network without its DNS firewall',
    answering('route53resolver list-firewall-rule-group-associations', { FirewallRuleGroupAssociations: [] }),
    /Fault: sandboxes resolve any name: the network has no DNS firewall/,
  ],
  [
    'a route out of the network',
    answering('ec2 describe-route-tables', {
      RouteTables: [
        { Routes: [{ DestinationCidrBlock: '10.77.0.0/16', GatewayId: 'local' }] },
        { Routes: [{ DestinationCidrBlock: '0.0.0.0/0', NatGatewayId: 'nat-1' }] },
      ],
    }),
    /Fault: sandboxes have a way out/,
  ],
  [
    'a route to a part of the addresses',
    answering('ec2 describe-route-tables', {
      RouteTables: [{ Routes: [{ DestinationCidrBlock: '10.0.0.0/8', VpcPeeringConnectionId: 'pcx-1' }] }],
    }),
    /Fault: sandboxes have a way out/,
  ],
  [
    'interfaces that Lambda has left in the network',
    answering('ec2 describe-network-interfaces', {
      NetworkInterfaces: [
        { NetworkInterfaceId: 'eni-1', Status: 'in-use' },
        { NetworkInterfaceId: 'eni-2', Status: 'available' },
      ],
    }),
    /Note: Lambda has left the interfaces eni-2 in the network/,
  ],
  [
    'sandboxes without counters of the kernel',
    { cgroups: 'unseen' },
    /Note: sandboxes count their memory themselves/,
  ],
  [
    'a table that can be deleted',
    answering('dynamodb describe-table', { Table: { DeletionProtectionEnabled: false } }),
    /Fault: the table can be deleted by mistake/,
  ],
  [
    'a table without point-in-time recovery',
    answering('dynamodb describe-continuous-backups', {
      ContinuousBackupsDescription: {
        PointInTimeRecoveryDescription: { PointInTimeRecoveryStatus: 'DISABLED' },
      },
    }),
    /Fault: the table cannot be restored/,
  ],
  [
    'a table whose items do not expire',
    answering('dynamodb describe-time-to-live', { TimeToLiveDescription: { TimeToLiveStatus: 'DISABLED' } }),
    /Fault: old items stay and are paid for/,
  ],
  [
    'functions that an interrupted destroy has closed',
    answering('lambda get-function-concurrency', { ReservedConcurrentExecutions: 0 }),
    /Fault: the function sallyport-turn may not run/,
  ],
  [
    'a rule that is disabled',
    answering('events describe-rule', { State: 'DISABLED' }),
    /Fault: the rule sallyport-compute-Sweeporphans1 is disabled/,
  ],
  [
    'an authorizer of the WebSocket with an identity source',
    answering('apigatewayv2 get-authorizers', { Items: [{ IdentitySource: ['route.request.header.Auth'] }] }),
    /Fault: the authorizer of the WebSocket asks for route\.request\.header\.Auth/,
  ],
  [
    'an admin token that was never shown',
    { parameters: { '/sallyport/sallyport/admin-token': `pending ${'ab'.repeat(32)}` } },
    /Fault: the admin token was never shown/,
  ],
  [
    'an address that does not answer',
    { answers: {} },
    /Fault: https:\/\/d1\.cloudfront\.net does not answer: curl: \(6\) Could not resolve host/,
  ],
  [
    'an endpoint of MCP that does not ask for a token',
    onPath('/mcp', 'HTTP/2 403 \r\nserver: CloudFront\r\n\r\n<html>'),
    /Fault: \/mcp answers 403 without a token/,
  ],
  [
    'a refusal without WWW-Authenticate',
    onPath('/mcp', 'HTTP/2 401 \r\nx-amzn-remapped-www-authenticate: Bearer\r\n\r\n{}'),
    /Fault: a refusal of \/mcp has no WWW-Authenticate/,
  ],
  [
    'a path whose %2F does not arrive',
    onPath('/api/sessions/a%2Fb', 'HTTP/2 404 \r\nserver: CloudFront\r\n\r\n<html>'),
    /Fault: a path with %2F is answered with 404/,
  ],
  ['a low quota of Lambda', concurrency(10), /Note: Lambda runs 10 functions at a time/],
  ['a low quota of Fargate', vcpus(2), /Note: Fargate runs 2 vCPUs/],
  ['no quota of Fargate', vcpus(0), /Fault: Fargate runs 0 vCPUs/],
  [
    'too few zones with Fargate and endpoints',
    answering('ec2 describe-vpc-endpoint-services', { ServiceDetails: [{ AvailabilityZones: [] }] }),
    /Fault: the region has 0 zones for sandboxes/,
  ],
];

test.each(faults)('the doctor finds %s', async (_, account, says) => {
  const { code, out } = await openMachine({ ...busyAccount, ...account }).run(doctorCommand, ['--check']);
  expect(out).toMatch(says);
  const lines = out.split('\n').filter((line) => /^(?:Fault|Note|Unknown): /.test(line));
  // Every function of the deployment is closed by a destroy; each other fault is one.
  expect(
    new Set(lines.map((line) => line.replace(/sallyport-(?:turn|synthetic|custom)/, ''))),
  ).toHaveProperty('size', 1);
  expect(code).toBe(out.includes('Fault: ') ? 1 : 0);
  // The profile of the reader may have another one.
  const commands = out.match(/\baws [a-z0-9-]+ [a-z]+(?:-[a-z]+)+.*/g) ?? [];
  expect(commands.filter((command) => !command.includes(' --region eu-central-1'))).toEqual([]);
});

test('a call that is refused is said, and found by no other name', async () => {
  const refuses = {
    'dynamodb describe-table': 'AccessDeniedException',
    'sns list-subscriptions-by-topic': 'AuthorizationError',
  };
  const { code, out } = await openMachine({ ...busyAccount, refuses }).run(doctorCommand, []);
  expect(code).toBe(0);
  expect(out).toContain('Unknown: whether the table can be deleted cannot be read');
  expect(out).toContain('Unknown: the recipients of alarms cannot be read');
});

describe('by the settings of a deployment', () => {
  const folder = mkdtempSync(join(tmpdir(), 'sallyport-doctor-'));
  afterAll(() => rmSync(folder, { recursive: true }));
  const path = join(folder, 'settings.json');
  const examined = (settings: object, account: Account) => {
    writeFileSync(path, JSON.stringify(settings));
    return openMachine({ ...busyAccount, ...account }).run(doctorCommand, ['--settings', path]);
  };
  const withFirewall = (status: string): Account => ({
    stacks: {
      ...busyAccount.stacks,
      'sallyport-firewall': { status, region: 'us-east-1', outputs: {}, resources: [] },
    },
  });

  test('the DNS firewall that it made in a network of its owner is read, and the routes are not', async () => {
    const existing = {
      ...{ vpcId: 'vpc-9', cidr: '10.9.0.0/16', isIsolated: true, availabilityZones: ['eu-central-1a'] },
      ...{ subnetIds: ['subnet-9'], routeTableIds: ['rtb-9'] },
    };
    const network = { existing };
    const { 'sallyport-network': own, ...others } = busyAccount.stacks;
    const madeIn = (resources: readonly (readonly string[])[], call: string, answer: unknown): Account => ({
      ...answering(call, answer),
      stacks: { ...others, 'sallyport-network': { ...own, resources } },
    });
    const made = own.resources.filter(([type]) => type !== 'AWS::EC2::VPC');
    const open = { FirewallConfig: { FirewallFailOpen: 'ENABLED' } };
    const fails = await examined({ network }, madeIn(made, 'route53resolver get-firewall-config', open));
    expect(fails.out).toContain('Fault: sandboxes resolve any name while the DNS firewall fails');
    expect(fails.out).toContain('--firewall-fail-open DISABLED --resource-id vpc-9');
    const routes = { RouteTables: [{ Routes: [{ NatGatewayId: 'nat-1' }] }] };
    const leading = await examined({ network }, madeIn(made, 'ec2 describe-route-tables', routes));
    expect(leading.out).toContain('Nothing is wrong.');
    const ofAnother = await examined({ network }, madeIn([], 'route53resolver get-firewall-config', open));
    expect(ofAnother.out).toContain('Nothing is wrong.');
  });

  test('the firewall of the web is one of its stacks', async () => {
    const missing = await examined({ firewall: true }, {});
    expect(missing.out).toContain('Fault: stack sallyport-firewall is missing');
    expect(missing.code).toBe(1);
    const { out } = await examined({ firewall: true }, withFirewall('UPDATE_ROLLBACK_COMPLETE'));
    expect(out).toContain('Note: stack sallyport-firewall is UPDATE_ROLLBACK_COMPLETE');
    expect(out).toContain('describe-stack-events --stack-name sallyport-firewall --region us-east-1');
    const sound = await examined({ firewall: true }, withFirewall('CREATE_COMPLETE'));
    expect(sound.out).toContain('Nothing is wrong.');
  });
});
