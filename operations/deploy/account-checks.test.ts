import { mkdtempDisposableSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { type Settings, stages } from '../../infra/settings.ts';
import { judgeAccount, usableZones } from './account-checks.ts';
import type { AccountFacts } from './account-facts.ts';
import { deployCommand } from './deploy.ts';
import { emptyAccount, openMachine, usualFacts } from './fixtures/machine.ts';

const zones = ['1', '2', '3', '4'].map((number) => ({ name: `zone-${number}`, id: `use1-az${number}` }));
const all = zones.map(({ name }) => name);
const usual: AccountFacts = {
  lambda: { concurrency: 1000, unreserved: 1000 },
  fargateVcpus: 100,
  vpcs: { count: 1, max: 5 },
  apiLogRole: 'arn',
  zones,
  endpointZones: [all, all],
};
const judge = (facts: Partial<AccountFacts>, settings: Partial<Settings> = {}, isFirst = true) =>
  judgeAccount(
    { ...usual, ...facts },
    { settings: { ...stages.production, ...settings }, region: 'us-east-1', isFirst },
  );
const domain = {
  name: 'agents.example.com',
  certificateArn: 'arn:aws:acm:us-east-1:111122223333:certificate/1',
};

describe('a region to which CloudFront delivers no logs', () => {
  const at = (settings: Partial<Settings>) =>
    judgeAccount(usual, {
      ...{ settings: { ...stages.production, ...settings }, region: 'eu-south-1', isFirst: true },
    }).map(({ level, problem }) => `${level}: ${problem}`);

  test('stops a deploy, unless the stage does without them', () => {
    expect(at({})).toEqual(['stop: CloudFront delivers no access logs to a bucket in eu-south-1']);
    expect(at({ distributionLogs: false })).toEqual([]);
  });
});

describe('an account', () => {
  test('with the usual quotas is in order, for every stage', () => {
    for (const settings of Object.values(stages)) expect(judge({}, settings)).toEqual([]);
  });

  const stopped: readonly [string, Partial<AccountFacts>, Partial<Settings>, RegExp][] = [
    [
      'without concurrency to reserve',
      { lambda: { concurrency: 500, unreserved: 500 } },
      stages.hardened,
      /reserves 430 of 500 .* leaves 70 of the 100/,
    ],
    [
      'whose functions have reserved the rest',
      { lambda: { concurrency: 1000, unreserved: 520 } },
      stages.hardened,
      /leaves 90/,
    ],
    ['without Fargate', { fargateVcpus: 0 }, {}, /Fargate runs 0 vCPUs/],
    ['without a free VPC', { vpcs: { count: 5, max: 5 } }, {}, /all 5 VPCs of the region are in use/],
    [
      'without a role for logs, if the stage must not set one',
      { apiLogRole: '' },
      { ownsApiLogRole: false },
      /no role for logs/,
    ],
    [
      'whose certificate is not issued',
      { certificate: { status: 'PENDING_VALIDATION', names: [] } },
      { domain },
      /is PENDING_VALIDATION/,
    ],
    [
      'whose certificate is for another name',
      { certificate: { status: 'ISSUED', names: ['*.a.example.com'] } },
      { domain },
      /covers \*\.a\.example\.com and not/,
    ],
    [
      'with too few zones',
      { endpointZones: [['zone-1'], all] },
      { network: { cidr: '10.0.0.0/16', zones: 2 } },
      /has 1 zones for sandboxes, and the stage wants 2/,
    ],
    [
      'whose zone lacks an endpoint',
      { endpointZones: [['zone-1'], all] },
      { network: { cidr: '10.0.0.0/16', zones: 1, zoneIds: ['use1-az2'] } },
      /use1-az2 has no Fargate or no endpoint/,
    ],
  ];

  test.each(stopped)('%s stops a deploy', (...[, facts, settings, says]) => {
    expect(judge(facts, settings)).toEqual([
      { level: 'stop', problem: expect.stringMatching(says), next: expect.stringMatching(/\S/) },
    ]);
  });

  test('that is new is warned about: ten functions at a time serve nobody', () => {
    const findings = judge({ lambda: { concurrency: 10, unreserved: 10 }, fargateVcpus: 2 });
    expect(findings.map(({ level, problem }) => [level, problem])).toEqual([
      ['warn', expect.stringContaining('so 0 people can work')],
      ['warn', expect.stringContaining('2 vCPUs')],
    ]);
  });

  test('whose facts may not be read is told so, and nothing is guessed', () => {
    const findings = judgeAccount({}, { settings: stages.production, region: 'us-east-1', isFirst: true });
    expect(findings.map(({ level }) => level)).toEqual(['unknown', 'unknown', 'unknown', 'stop']);
    expect(findings.at(-1)?.next).toContain('network.zoneIds');
  });

  test('needs no free VPC for an upgrade, nor a second reservation', () => {
    const facts = { vpcs: { count: 5, max: 5 }, lambda: { concurrency: 1000, unreserved: 570 } };
    expect(judge(facts, stages.hardened, false)).toEqual([]);
  });

  test('with a certificate for another name is told how to request one for its own', () => {
    const certificate = { status: 'ISSUED', names: ['other.example.com'] };
    expect(judge({ certificate }, { domain }).map(({ next }) => next)).toEqual([
      'Request one in us-east-1: aws acm request-certificate --region us-east-1 --validation-method DNS --domain-name agents.example.com',
    ]);
  });

  test('whose certificate is not validated yet is told how to validate it, and not to request another', () => {
    const certificate = { status: 'PENDING_VALIDATION', names: ['agents.example.com'] };
    expect(judge({ certificate }, { domain }).map(({ next }) => next)).toEqual([
      'Create the CNAME that validates it: aws acm describe-certificate --region us-east-1 --certificate-arn arn:aws:acm:us-east-1:111122223333:certificate/1 --query Certificate.DomainValidationOptions',
    ]);
  });

  test.each([['agents.example.com'], ['*.example.com']])('with a certificate for %s is in order', (name) => {
    expect(judge({ certificate: { status: 'ISSUED', names: [name] } }, { domain })).toEqual([]);
  });
});

test('zones need Fargate and both endpoints, and one that is reported without arm64 is the last', () => {
  const endpointZones = [all.slice(0, 3), all];
  expect(usableZones({ zones, endpointZones }, 'us-east-1').map(({ id }) => id)).toEqual([
    'use1-az1',
    'use1-az2',
    'use1-az3',
  ]);
  const rest = { zones: [zones[2], zones[0]].flatMap((zone) => zone ?? []), endpointZones: [all, all] };
  expect(usableZones(rest, 'us-east-1').map(({ id }) => id)).toEqual(['use1-az1', 'use1-az3']);
  const west = { zones: [{ name: 'zone-1', id: 'usw1-az2' }], endpointZones: [all, all] };
  expect(usableZones(west, 'us-west-1')).toEqual([]);
});

describe('a deploy', () => {
  const parametersOf = (calls: readonly string[]): readonly string[] =>
    calls.flatMap((call) =>
      [...call.matchAll(/--parameters (\S+-(?:data|network):\S+)/g)].map(([, one = '']) => one),
    );

  test('chooses zones once, and leaves them where they are', async () => {
    const machine = openMachine(emptyAccount);
    await machine.run(deployCommand, ['--yes']);
    expect(parametersOf(machine.calls)).toEqual([
      'sallyport-data:SetsApiLogRole=no',
      'sallyport-network:Zone1Id=euc1-az2',
    ]);
    machine.calls.length = 0;
    await machine.run(deployCommand, ['--yes']);
    expect(parametersOf(machine.calls)).toEqual([]);
    expect(machine.state.stacks['sallyport-network']?.parameters).toEqual({ Zone1Id: 'euc1-az2' });
  });

  test('of staging alone in its account sets the role of API Gateway’s logs', async () => {
    const machine = openMachine({ ...emptyAccount, has: { ...usualFacts, 'apigateway get-account': {} } });
    await machine.run(deployCommand, ['--yes', '--stage', 'staging']);
    expect(parametersOf(machine.calls)).toContain('sallyport-staging-data:SetsApiLogRole=yes');
  });

  test('is stopped by an account that cannot hold it, before anything is made', async () => {
    const machine = openMachine({
      ...emptyAccount,
      has: { ...usualFacts, 'ec2 describe-vpcs': { Vpcs: [1, 2, 3, 4, 5] } },
    });
    const { code, error } = await machine.run(deployCommand, ['--yes']);
    expect([code, error]).toEqual([1, expect.stringContaining('all 5 VPCs')]);
    expect(machine.calls.filter((call) => call.startsWith('cdk'))).toEqual([]);
  });

  test('says what it may not read, and goes on', async () => {
    const refuses = {
      'service-quotas get-service-quota': 'AccessDeniedException',
      'lambda get-account-settings': 'AccessDeniedException',
    };
    const { code, out } = await openMachine({ ...emptyAccount, refuses }).run(deployCommand, ['--yes']);
    expect(code).toBe(0);
    expect(out).toContain('Note: the concurrency of Lambda cannot be read');
  });
});

describe('a certificate', () => {
  const deployWith = async (code: string) => {
    using folder = mkdtempDisposableSync(join(tmpdir(), 'sallyport-certificate-'));
    const path = join(folder.path, 'settings.json');
    writeFileSync(path, JSON.stringify({ domain }));
    const machine = openMachine({ ...emptyAccount, refuses: { 'acm describe-certificate': code } });
    return machine.run(deployCommand, ['--settings', path], 'no');
  };

  test('that may not be read is said, and stops nothing', async () => {
    const { out, error } = await deployWith('AccessDeniedException');
    expect(error).toBe('nothing was deployed\n');
    expect(out).toContain(`Note: the certificate of ${domain.name} cannot be read. Ask the administrator`);
  });

  test('that is not there stops a deploy', async () => {
    const { error } = await deployWith('ResourceNotFoundException');
    expect(error).toContain(`the certificate of ${domain.name} is not found in us-east-1`);
  });
});
