import { describe, expect, test } from 'vitest';
import { destroyCommand } from './destroy.ts';
import { busyAccount, emptyAccount, openMachine, projectSecret } from './fixtures/machine.ts';

const machineWith = (state: object = busyAccount) => openMachine(state);
/** Of other functions, and of another deployment whose name begins with this one's. */
const othersLogs = [
  '/aws/lambda/sallyport-staging-custom',
  '/aws/lambda/sallyport-customs',
  '/aws/lambda/other',
];
const otherSecret = 'arn:aws:secretsmanager:eu-central-1:111122223333:secret:other-abcdef';
const sandboxSecret = 'arn:aws:secretsmanager:eu-central-1:111122223333:secret:SandboxSecret1-abcdef';

test('every resource of the deployment is deleted, and no other', async () => {
  const machine = machineWith();
  const { code, out, error } = await machine.run(destroyCommand, ['--yes']);
  expect(error).toBe('');
  expect(code).toBe(0);
  expect(machine.state).toMatchObject({
    stacks: {},
    tasks: [],
    buckets: { 'of-somebody-else': 1 },
    tables: { 'of-somebody-else': { protected: false } },
    secrets: [otherSecret],
    logGroups: othersLogs,
    definitions: ['arn:aws:ecs:eu-central-1:111122223333:task-definition/of-somebody-else:1'],
  });
  // The time of its stack is that which Lambda takes to leave the network.
  expect(out).toMatch(/Deleting stack sallyport-compute: .*leave the network\n {2}deleted after \d+\.\d min/);
  expect(out.split('Retained:\n')[1]?.trim().split('\n')).toEqual([
    'the role by which API Gateway writes logs: it belongs to the account, and other APIs may use it',
    '  the bootstrap of the CDK in 111122223333, eu-central-1, with the images and bundles that were deployed',
  ]);
});

test('functions are closed before sandboxes are stopped, and stacks are deleted from the top down', async () => {
  const machine = machineWith();
  await machine.run(destroyCommand, ['--yes']);
  const steps = machine.calls.flatMap(
    (call) => /put-function-concurrency|stop-task|delete-stack --stack-name \S+/.exec(call) ?? [],
  );
  expect(steps).toEqual([
    'put-function-concurrency',
    'put-function-concurrency',
    'stop-task',
    'stop-task',
    ...['observability', 'edge', 'compute', 'network', 'data'].map(
      (name) => `delete-stack --stack-name sallyport-${name}`,
    ),
  ]);
  expect(machine.state.closed).toEqual(['sallyport-turn', 'sallyport-synthetic']);
});

test('with --keep-data table, checkpoints and secrets remain, and are named, but no token', async () => {
  const machine = machineWith({ ...busyAccount, named: { 'sallyport-admin-token/sallyport': 'sp_1' } });
  const { code, out } = await machine.run(destroyCommand, ['--yes', '--keep-data']);
  expect(code).toBe(0);
  expect(machine.state).toMatchObject({
    stacks: {},
    buckets: { 'sallyport-data-workspaces1': 2500, 'of-somebody-else': 1 },
    tables: { 'sallyport-data-Table-1': { protected: true } },
    secrets: [sandboxSecret, projectSecret, otherSecret],
    logGroups: othersLogs,
  });
  expect(machine.state.named).toEqual({});
  const [, left = ''] = out.split('Retained:\n');
  for (const kept of ['sallyport-data-Table-1', 'sallyport-data-workspaces1', sandboxSecret, projectSecret])
    expect(left).toContain(kept);
});

test('data that an earlier run retained is found by its tags and deleted', async () => {
  const machine = machineWith({
    ...busyAccount,
    stacks: {},
    tasks: [],
    tagged: [
      'arn:aws:dynamodb:eu-central-1:111122223333:table/sallyport-data-Table-1',
      'arn:aws:s3:::sallyport-data-workspaces1',
      sandboxSecret,
    ],
  });
  const { code } = await machine.run(destroyCommand, ['--yes']);
  expect(code).toBe(0);
  expect(machine.state).toMatchObject({
    buckets: { 'sallyport-edge-web1': 3, 'of-somebody-else': 1 },
    tables: { 'of-somebody-else': {} },
    secrets: [otherSecret],
  });
  const asked = machine.calls.find((call) => call.includes('get-resources'));
  expect(asked).toContain(
    'Key=deployment,Values=sallyport Key=aws:cloudformation:stack-name,Values=sallyport-data,sallyport-network',
  );
});

describe('data that an earlier deployment has left', () => {
  const arn = (rest: string): string => `arn:aws:${rest}`;
  const here = 'eu-central-1:111122223333';
  const [ownTable, table] = ['1', '0'].map((id) => arn(`dynamodb:${here}:table/sallyport-data-Table-${id}`));
  const [ownBucket, bucket] = ['1', '0'].map((id) => arn(`s3:::sallyport-data-workspaces${id}`));
  const secret = arn(`secretsmanager:${here}:secret:SandboxSecret0-abcdef`);
  const bundle = arn(`secretsmanager:${here}:secret:sallyport/sallyport/p0-abcdef`);
  const key = arn(`kms:${here}:key/0a0a0a0a`);
  const deletedKey = arn(`kms:${here}:key/0b0b0b0b`);
  const [own, earlier] = [
    [ownTable, ownBucket, sandboxSecret],
    [table, bucket, secret, key, deletedKey],
  ] as [readonly string[], readonly string[]];
  const data = { ...busyAccount.stacks['sallyport-data'], created: '2026-11-01T10:00:00.000Z' };
  const account = {
    ...busyAccount,
    stacks: { ...busyAccount.stacks, 'sallyport-data': data },
    tables: { ...busyAccount.tables, 'sallyport-data-Table-0': { protected: true } },
    buckets: { ...busyAccount.buckets, 'sallyport-data-workspaces0': 5 },
    secrets: [...busyAccount.secrets, secret, bundle],
    made: { [bundle]: '2026-10-01T10:00:00.000Z', [projectSecret]: '2026-11-02T10:00:00.000Z' },
    keys: ['0a0a0a0a'],
    tagged: [...own, ...earlier],
    madeBy: Object.fromEntries([
      ...own.map((one) => [one, 'stack/sallyport-data/new']),
      ...earlier.map((one) => [one, 'stack/sallyport-data/old']),
    ]),
  };
  const lines = [
    '  table sallyport-data-Table-0',
    '  bucket sallyport-data-workspaces0',
    `  secret ${secret}`,
    `  secret ${bundle}`,
    '  key 0a0a0a0a',
  ];
  const left = {
    tables: { 'of-somebody-else': { protected: false }, 'sallyport-data-Table-0': { protected: true } },
    buckets: { 'of-somebody-else': 1, 'sallyport-data-workspaces0': 5 },
    secrets: [otherSecret, secret, bundle],
    keys: ['0a0a0a0a'],
  };
  const nothing = {
    tables: { 'of-somebody-else': { protected: false } },
    buckets: { 'of-somebody-else': 1 },
    secrets: [otherSecret],
    keys: [],
  };
  const leftIn = ({ tables, buckets, secrets, keys }: ReturnType<typeof openMachine>['state']) => ({
    ...{ tables, buckets, secrets, keys },
  });

  test('stays, and is named before the question and at the end; what is deleted is named as well', async () => {
    const machine = machineWith(account);
    const { code, out, error } = await machine.run(destroyCommand, ['--yes']);
    expect([code, error]).toEqual([0, '']);
    expect(leftIn(machine.state)).toEqual(left);
    const [before = '', after] = out.split('Retained:\n');
    expect(before).toContain(
      [
        'Everything is deleted, and all logs:',
        '  table sallyport-data-Table-1',
        '  bucket sallyport-edge-web1',
        '  bucket sallyport-data-workspaces1',
        `  secret ${sandboxSecret}`,
        `  secret ${projectSecret}`,
        'These are left of an earlier deployment sallyport, and stay:',
        ...lines,
      ].join('\n'),
    );
    expect(after?.split('\n').slice(0, 6)).toEqual([
      ...lines.map((line) => `${line} of an earlier deployment`),
      '    npm run destroy deletes it with --with-earlier',
    ]);
  });

  test('is deleted when that is said', async () => {
    const machine = machineWith(account);
    const { code, out, error } = await machine.run(destroyCommand, ['--yes', '--with-earlier']);
    expect([code, error]).toEqual([0, '']);
    expect(leftIn(machine.state)).toEqual(nothing);
    expect(out).not.toContain('earlier deployment');
  });

  test('is not taken for the rest of one whose destroy was interrupted', async () => {
    const machine = machineWith({ ...account, stacks: {}, tasks: [] });
    const { code, error } = await machine.run(destroyCommand, ['--yes']);
    expect([code, error]).toEqual([
      1,
      expect.stringMatching(/^there is data of several deployments sallyport/),
    ]);
    for (const line of lines) expect(error).toContain(line);
    expect(leftIn(machine.state)).toEqual(leftIn(machineWith(account).state));
    expect((await machine.run(destroyCommand, ['--yes', '--with-earlier'])).code).toBe(0);
    expect(machine.state).toMatchObject({ ...nothing, buckets: { 'sallyport-edge-web1': 3 } });
  });
});

describe('nothing is destroyed', () => {
  test('unless the name of the deployment is typed', async () => {
    const machine = machineWith();
    for (const answer of ['yes', 'sallyport-staging', '']) {
      const { code, error } = await machine.run(destroyCommand, [], answer);
      expect([code, error]).toEqual([1, 'nothing was destroyed\n']);
    }
    expect(Object.keys(machine.state.stacks)).toHaveLength(5);
    expect(machine.state.closed).toEqual([]);
    expect((await machine.run(destroyCommand, [], 'sallyport')).code).toBe(0);
  });

  test('without a deployment', async () => {
    const { code, error } = await machineWith(emptyAccount).run(destroyCommand, ['--yes']);
    expect([code, error]).toEqual([
      1,
      'there is no deployment sallyport in account 111122223333, eu-central-1\n  Choose another: --stage <name> and --region <region>.\n',
    ]);
  });
});

test('a stack that fails to delete is reported with a link, and the next run continues', async () => {
  const machine = machineWith({
    ...busyAccount,
    refuses: { 'cloudformation wait': 'Waiter StackDeleteComplete failed' },
  });
  const { code, error } = await machine.run(destroyCommand, ['--yes']);
  expect([code, error]).toEqual([
    1,
    expect.stringMatching(/^stack sallyport-observability was not deleted\n.*describe-stack-events/),
  ]);
  Object.assign(machine.state, { refuses: {} });
  expect((await machine.run(destroyCommand, ['--yes'])).code).toBe(0);
  expect(machine.state.stacks).toEqual({});
});

test('a log that arrives after a bucket was emptied is deleted, too', async () => {
  const machine = machineWith({ ...busyAccount, delivered: { 'sallyport-edge-web1': 2 } });
  expect((await machine.run(destroyCommand, ['--yes'])).code).toBe(0);
  expect(machine.state.buckets).toEqual({ 'of-somebody-else': 1 });
});

describe('a bucket of seals with Object Lock', () => {
  const bucket = 'sallyport-data-seals1';
  const key = 'arn:aws:kms:eu-central-1:111122223333:key/0a0a0a0a';
  const dayMs = 86_400_000;
  const data = busyAccount.stacks['sallyport-data'];
  const seals = [
    ['AWS::S3::Bucket', 'Seals1', bucket],
    ['AWS::KMS::Key', 'SealKey1', '0a0a0a0a'],
  ];
  const accountWith = (writtenMsAgo: number, versions = 48) => ({
    ...busyAccount,
    stacks: {
      ...busyAccount.stacks,
      'sallyport-data': { ...data, resources: [...data.resources, ...seals] },
    },
    buckets: { ...busyAccount.buckets, [bucket]: versions },
    locks: { [bucket]: { days: 30, written: new Date(Date.now() - writtenMsAgo).toISOString() } },
    tagged: [`arn:aws:s3:::${bucket}`, key],
    keys: ['0a0a0a0a'],
  });

  test('stays while it is locked, with the keys, and is named with its end and what deletes it', async () => {
    const account = accountWith(dayMs);
    const machine = machineWith(account);
    const { code, out, error } = await machine.run(destroyCommand, ['--yes']);
    expect([code, error]).toEqual([0, '']);
    expect(machine.state).toMatchObject({
      stacks: {},
      buckets: { 'of-somebody-else': 1, [bucket]: 48 },
      keys: ['0a0a0a0a'],
    });
    const until = new Date(Date.parse(account.locks[bucket]?.written ?? '') + 30 * dayMs).toISOString();
    expect(out.split('Retained:\n')[1]?.trim().split('\n').slice(0, 3)).toEqual([
      'key 0a0a0a0a, which the seals need',
      `  bucket ${bucket} with the seals of the audit log, locked until ${until} (Object Lock, governance)`,
      '    npm run destroy deletes it after that; sooner with --bypass-lock, by a person who has s3:BypassGovernanceRetention',
    ]);
    const again = await machine.run(destroyCommand, ['--yes']);
    expect([again.code, again.error]).toEqual([0, '']);
  });

  test('is named with the end of an earlier, longer lock', async () => {
    const account = accountWith(dayMs);
    Object.assign(account.locks[bucket] ?? {}, { longer: { days: 365, versions: 17 } });
    const { out } = await machineWith(account).run(destroyCommand, ['--yes']);
    const until = Date.parse(account.locks[bucket]?.written ?? '') + 364 * dayMs;
    expect(out).toContain(`locked until ${new Date(until).toISOString()} (`);
  });

  test.each([
    ['when its last lock has ended', accountWith(31 * dayMs), []],
    ['when nothing is in it', accountWith(dayMs, 0), []],
    ['before, by a person who may bypass it', accountWith(dayMs), ['--bypass-lock']],
  ])('is deleted %s', async (_, account, flags) => {
    const machine = machineWith(account);
    const { code, error } = await machine.run(destroyCommand, ['--yes', ...flags]);
    expect([code, error]).toEqual([0, '']);
    expect(machine.state).toMatchObject({ buckets: { 'of-somebody-else': 1 }, keys: [] });
    expect(machine.state.buckets).not.toHaveProperty(bucket);
  });

  test('whose objects S3 refuses to delete stops the run with their name', async () => {
    const machine = machineWith({ ...accountWith(dayMs), refuses: {} });
    Object.assign(machine.state, {
      has: { 's3api get-object-lock-configuration': { ObjectLockConfiguration: {} } },
    });
    const { code, error } = await machine.run(destroyCommand, ['--yes']);
    expect([code, error]).toEqual([1, expect.stringMatching(/^S3 does not delete k0: AccessDenied\n/)]);
  });
});
