import { createHash } from 'node:crypto';
import { chmodSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, describe, expect, test } from 'vitest';
import { deployCommand } from './deploy.ts';
import { busyAccount, emptyAccount, openMachine } from './fixtures/machine.ts';
import { openPrograms } from './programs.ts';

const machineWith = (state: object = emptyAccount, installed?: readonly string[]) =>
  openMachine(state, installed);
const cdkCalls = (calls: readonly string[]): readonly string[] =>
  calls.filter((call) => call.startsWith('cdk deploy'));

describe('a first deploy', () => {
  test('prints the cost, deploys, copies the web app, and prints the token once while AWS gets its hash', async () => {
    const machine = machineWith();
    const { code, out, error } = await machine.run(deployCommand, ['--yes']);
    expect(error).toBe('');
    expect(code).toBe(0);
    expect(out).toMatch(/A first deploy\. While idle it costs about \$\d+\.\d\d a month/);
    const [, token = ''] = /Open https:\/\/d1\.cloudfront\.net\/#token=(sp_[0-9a-f]{64})\n/.exec(out) ?? [];
    expect(out.split(token)).toHaveLength(2);
    const hash = createHash('sha256').update(token).digest('hex');
    expect(cdkCalls(machine.calls)).toEqual([
      `cdk deploy --all --require-approval never --force --context stage=production --parameters sallyport-compute:AdminTokenSha256=${hash} --parameters sallyport-data:SetsApiLogRole=no --parameters sallyport-network:Zone1Id=euc1-az2`,
    ]);
    expect(machine.calls.join('\n')).not.toContain(token);
    expect(machine.calls.filter((call) => call.startsWith('aws s3 sync'))).toEqual([
      expect.stringMatching(
        /web\/dist\/assets s3:\/\/sallyport-edge-web1\/assets .*--cache-control .*immutable$/,
      ),
      expect.stringMatching(
        /web\/dist s3:\/\/sallyport-edge-web1\/ --region eu-central-1 .*--cache-control no-store$/,
      ),
    ]);
    expect(machine.state.invalidated).toBe(true);
  });

  test('that failed creates another token the next time, since the first was not printed', async () => {
    const machine = machineWith({ ...emptyAccount, cdkFails: true });
    const { code, out, error } = await machine.run(deployCommand, ['--yes']);
    expect([code, error]).toEqual([
      1,
      expect.stringMatching(/^cdk deploy ended with 1\n {2}.*continues where it stopped/),
    ]);
    expect(out).not.toContain('sp_');
    Object.assign(machine.state, { cdkFails: false });
    expect((await machine.run(deployCommand, ['--yes'])).out).toContain('#token=sp_');
  });

  test('asks, and accepts only yes', async () => {
    const machine = machineWith();
    for (const answer of ['no', 'y', '']) {
      const ran = await machine.run(deployCommand, [], answer);
      expect([ran.code, ran.error]).toEqual([1, 'nothing was deployed\n']);
    }
    expect(cdkCalls(machine.calls)).toEqual([]);
    expect((await machine.run(deployCommand, [], 'yes')).code).toBe(0);
  });

  test('is refused without a terminal', async () => {
    const { code, error } = await machineWith().run(deployCommand, []);
    expect([code, error]).toEqual([1, expect.stringContaining('Add --yes')]);
  });
});

describe('an upgrade', () => {
  test('keeps the existing token', async () => {
    const machine = machineWith(busyAccount);
    const { code, out } = await machine.run(deployCommand, ['--yes']);
    expect(code).toBe(0);
    expect(out).toContain('An upgrade.');
    expect(out).not.toContain('sp_');
    expect(cdkCalls(machine.calls)[0]).not.toContain('--parameters');
  });

  test('shows the changes of permissions before it asks', async () => {
    const machine = machineWith(busyAccount);
    await machine.run(deployCommand, [], 'no');
    expect(machine.calls).toContain('cdk diff --all --security-only --context stage=production');
    expect(cdkCalls(machine.calls)).toEqual([]);
  });

  test('creates another one on request', async () => {
    const { out } = await machineWith(busyAccount).run(deployCommand, ['--yes', '--new-token']);
    expect(out).toContain('#token=sp_');
  });
});

describe('a missing prerequisite is reported with advice', () => {
  const cases: readonly [string, object, RegExp][] = [
    [
      'credentials',
      { refuses: { 'sts get-caller-identity': 'Unable to locate credentials' } },
      /aws configure sso/,
    ],
    [
      'valid credentials',
      { refuses: { 'sts get-caller-identity': 'ExpiredToken' } },
      /ExpiredToken.*\n.*aws configure sso/,
    ],
    [
      'the right to look',
      { refuses: { 'ssm get-parameter': 'AccessDeniedException' } },
      /Ask the administrator of the account/,
    ],
    [
      'the second version of the aws program',
      { awsVersion: '1.22.34' },
      /aws-cli\/1\.22\.34.*\n.*Install it/,
    ],
    [
      'the bootstrap',
      { bootstrap: {} },
      /not bootstrapped.*\n.*npx cdk bootstrap aws:\/\/111122223333\/eu-central-1/,
    ],
    ['a newer bootstrap', { bootstrap: { 'eu-central-1': '5' } }, /version 5.*\n.*npx cdk bootstrap/],
    ['Docker', { docker: { runs: false } }, /Docker does not answer\n.*Start Docker/],
    [
      'arm64',
      { docker: { runs: true, arch: 'amd64', platforms: 'linux/amd64' } },
      /does not build for arm64.*\n.*binfmt --install arm64/,
    ],
  ];

  test.each(cases)('%s', async (_, more, says) => {
    const machine = machineWith({ ...emptyAccount, ...more });
    const { code, error } = await machine.run(deployCommand, ['--yes']);
    expect([code, error]).toEqual([1, expect.stringMatching(says)]);
    expect(cdkCalls(machine.calls)).toEqual([]);
  });

  test('all of them at once', async () => {
    const machine = machineWith({ ...emptyAccount, bootstrap: {}, docker: { runs: false } });
    const { error } = await machine.run(deployCommand, ['--yes']);
    expect(error.split('\n')[0]).toBe(
      'Docker does not answer; aws://111122223333/eu-central-1 is not bootstrapped for the CDK',
    );
  });

  test('a firewall needs the bootstrap of us-east-1, too', async () => {
    const { error } = await machineWith().run(deployCommand, ['--yes', '--stage', 'hardened']);
    expect(error).toContain('npx cdk bootstrap aws://111122223333/us-east-1');
  });

  test('a firewall whose rollback has failed, in its own region', async () => {
    const firewall = { status: 'UPDATE_ROLLBACK_FAILED', region: 'us-east-1', outputs: {}, resources: [] };
    const machine = machineWith({ ...emptyAccount, stacks: { 'sallyport-hardened-firewall': firewall } });
    const { error } = await machine.run(deployCommand, ['--yes', '--stage', 'hardened']);
    expect(error).toContain('stack sallyport-hardened-firewall is UPDATE_ROLLBACK_FAILED');
    expect(error).toContain(
      'continue-update-rollback --stack-name sallyport-hardened-firewall --region us-east-1',
    );
    expect(cdkCalls(machine.calls)).toEqual([]);
  });

  test('an unknown stage', async () => {
    const { error } = await machineWith().run(deployCommand, ['--stage', 'mine']);
    expect(error).toMatch(
      /there is no stage "mine": one of production, staging, hardened\n {2}Stages are in/,
    );
  });

  test('an unknown flag', async () => {
    const { code, error } = await machineWith().run(deployCommand, ['--force']);
    expect([code, error]).toEqual([1, expect.stringContaining('usage: npm run deploy')]);
  });
});

describe('a file of settings', () => {
  const folder = mkdtempSync(join(tmpdir(), 'sallyport-pinned-'));
  afterAll(() => rmSync(folder, { recursive: true }));
  const path = join(folder, 'settings.json');
  const withFile = (settings: object, state: object = emptyAccount) => {
    writeFileSync(path, JSON.stringify(settings));
    return machineWith(state);
  };

  test('is passed to the CDK by its whole path', async () => {
    const machine = withFile({ account: '111122223333', region: 'eu-central-1' });
    expect((await machine.run(deployCommand, ['--yes', '--settings', path])).code).toBe(0);
    expect(cdkCalls(machine.calls)[0]).toContain(`--context stage=production --context settings=${path}`);
  });

  test.each([
    ['account', { account: '999988887777' }, 'account 999988887777, and this is 111122223333'],
    ['region', { region: 'us-east-1' }, 'region us-east-1, and this is eu-central-1'],
  ])('pins the %s', async (_, settings, says) => {
    const machine = withFile(settings);
    const { code, error } = await machine.run(deployCommand, [
      '--yes',
      '--region',
      'eu-central-1',
      '--settings',
      path,
    ]);
    expect([code, error]).toEqual([1, expect.stringContaining(says)]);
  });

  test('names a bootstrap of its own', async () => {
    const settings = { bootstrapQualifier: 'org1' };
    const missing = await withFile(settings).run(deployCommand, ['--yes', '--settings', path]);
    expect(missing.error).toContain('npx cdk bootstrap aws://111122223333/eu-central-1 --qualifier org1');
    const machine = withFile(settings, { ...emptyAccount, qualifier: 'org1' });
    expect((await machine.run(deployCommand, ['--yes', '--settings', path])).code).toBe(0);
  });
});

test('a domain of one’s own is told its CNAME, and is checked before its DNS is there', async () => {
  const machine = machineWith();
  const edge = machine.state.deployed['sallyport-edge'];
  Object.assign(edge?.outputs ?? {}, { Url: 'https://agents.example.com' });
  const { out } = await machine.run(deployCommand, ['--yes']);
  expect(out).toContain('agents.example.com -> d1.cloudfront.net');
  const checks = machine.calls.filter((call) => call.startsWith('aws lambda invoke'));
  expect(checks.join()).toContain('https://d1.cloudfront.net');
});

test('another builder of images is asked whether it answers', async () => {
  const state = { ...emptyAccount, docker: { runs: false }, variables: { CDK_DOCKER: 'finch' } };
  const missing = await machineWith(state, ['aws', 'cdk', 'npm']).run(deployCommand, ['--yes']);
  expect(missing.error).toContain('finch does not start');
  const { code } = await machineWith(state, ['aws', 'cdk', 'npm', 'finch']).run(deployCommand, ['--yes']);
  expect(code).toBe(0);
});

test('help prints only the usage', async () => {
  const machine = machineWith();
  const { code, out } = await machine.run(deployCommand, ['--help']);
  expect([code, out]).toEqual([0, `${deployCommand.usage}\n`]);
  expect(machine.calls).toEqual([]);
});

describe('programs on the PATH', () => {
  const withProgram = async <T>(script: string, use: (folder: string) => Promise<T>): Promise<T> => {
    const folder = mkdtempSync(join(tmpdir(), 'sallyport-programs-'));
    writeFileSync(join(folder, 'aws'), `#!/bin/sh\n${script}\n`);
    chmodSync(join(folder, 'aws'), 0o755);
    try {
      return await use(folder);
    } finally {
      rmSync(folder, { recursive: true });
    }
  };

  test('get their arguments and variables unchanged, and are read to the end', async () => {
    const outcome = await withProgram('echo "$AWS_REGION:$2"; echo no >&2; exit 3', (folder) =>
      openPrograms({ PATH: folder, AWS_REGION: 'eu-central-1' }).quiet('aws', ['a', 'b; c "d']),
    );
    expect(outcome).toEqual({ code: 3, out: 'eu-central-1:b; c "d\n', error: 'no\n' });
  });

  test('with inherited output return their exit code', async () => {
    const code = await withProgram('exit 4', (PATH) => openPrograms({ PATH }).shown('aws', []));
    expect(code).toBe(4);
  });

  test('that are missing are named, with their source', async () => {
    const failure = await openPrograms({ PATH: '/nowhere' })
      .quiet('aws', [])
      .catch((error: unknown) => error);
    expect(failure).toMatchObject({
      name: 'Failure',
      message: expect.stringContaining('aws does not start'),
      next: [expect.stringContaining('getting-started-install')],
    });
  });
});
