import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, describe, expect, test } from 'vitest';
import { defaults, type Settings, settingsOf } from './settings.ts';
import { readSettings } from './settings-file.ts';
import { ofType, synthesise } from './stacks/synthesise.ts';

const folder = mkdtempSync(join(tmpdir(), 'sallyport-settings-'));
afterAll(() => rmSync(folder, { recursive: true }));
const fileWith = (text: string): string => {
  const path = join(folder, 'settings.json');
  writeFileSync(path, text);
  return path;
};
const read = (settings: object) => readSettings('production', fileWith(JSON.stringify(settings)));

describe('a file of settings', () => {
  test('is laid over its stage, the network field by field', () => {
    const network = { zoneIds: ['use1-az4', 'use1-az1'] };
    expect(read({ stage: 'hardened', account: '111122223333', network })).toEqual({
      ...settingsOf('hardened'),
      account: '111122223333',
      network: { ...settingsOf('hardened').network, ...network },
    });
  });

  test('may have every field, each in the form of infra/settings.ts', () => {
    const every: Settings = {
      ...defaults,
      ...{ deployment: 'agents', account: '111122223333', region: 'eu-central-1', tags: { team: 'a' } },
      ...{ permissionsBoundaryArn: 'arn', bootstrapQualifier: 'own', projectSecretsKeyArn: 'arn' },
      variables: { POOL_SIZE: '2', SYNTHETIC_CHECK: 'false' },
      oidc: { issuer: 'i', audience: 'a', scopeClaim: 's', client: { id: 'c', signInSeconds: 60 } },
      providerKeyArns: { ANTHROPIC_API_KEY: 'arn' },
      ...{ encryption: { keyArn: 'arn' }, seals: { objectLockDays: 30 }, flavorsAllowed: ['micro', 'small'] },
      network: {
        ...{ cidr: '10.0.0.0/16', zones: 2, zoneIds: ['a', 'b'], flowLogs: 'all', sharedWith: ['other'] },
        existing: {
          ...{ vpcId: 'v', cidr: 'c', availabilityZones: [], subnetIds: [], routeTableIds: [] },
          ...{ isIsolated: true, endpointsGroupId: 'g' },
        },
      },
      templates: { node: { baseImage: 'debian' } },
      domain: { name: 'n', certificateArn: 'arn' },
      ...{ firewall: true, distributionLogs: false, ownsApiLogRole: true, logDays: 7 },
      ...{ alarmEmails: ['a@example.com'], runbookUrl: 'u', alarmTopicArn: 'arn' },
      ...{ requestsPerSecondMax: 1, requestBurstMax: 2, reservedConcurrency: { turn: 5, 'sandbox-link': 5 } },
    };
    expect(read({ stage: 'production', ...every })).toEqual(every);
  });

  test('is not needed', () => {
    expect(readSettings('staging')).toEqual(settingsOf('staging'));
  });

  test.each([
    ['{"alarmEmail":["a@example.com"]}', /there is no setting alarmEmail/],
    ['{"logDays":"30"}', /logDays is a string and not a number/],
    ['{"stage":"mine"}', /there is no stage "mine"/],
    ['{"network":{"zone":2}}', /there is no setting network\.zone$/],
    ['{"network":{"zones":"2"}}', /network\.zones is a string and not a number/],
    ['{"variables":{"POOLSIZE":"2"}}', /there is no setting variables\.POOLSIZE/],
    ['{"variables":{"POOL_SIZE":2}}', /variables\.POOL_SIZE is a number and not a string/],
    ['{"reservedConcurrency":{"turns":5}}', /there is no setting reservedConcurrency\.turns/],
    ['{"domain":{"name":"agents.example.com"}}', /domain\.certificateArn is missing/],
    ['{"encryption":"customer_managed"}', /encryption is not one of aws-managed, customer-managed/],
    ['{"alarmEmails":"a@example.com"}', /alarmEmails is a string and not an array/],
    ['{"tags":null}', /tags is null and not a record/],
    ['[]', /must be an object of settings/],
    ['{', /is not readable JSON/],
  ])('%s is refused', (text, problem) => {
    expect(() => readSettings('production', fileWith(text))).toThrow(problem);
  });
});

describe('what an organisation asks of every resource', () => {
  const boundary = 'arn:aws:iam::111122223333:policy/boundary';
  const templates = synthesise({
    settings: { tags: { 'cost-centre': '42' }, permissionsBoundaryArn: boundary, bootstrapQualifier: 'org1' },
  });

  test('every role has the permissions boundary', () => {
    const roles = Object.values(templates).flatMap((template) => ofType(template, 'AWS::IAM::Role'));
    expect(roles.length).toBeGreaterThan(15);
    for (const { Properties } of roles) expect(Properties.PermissionsBoundary).toBe(boundary);
  });

  test('resources have the tags beside that of the deployment', () => {
    const [table] = ofType(templates.data, 'AWS::DynamoDB::GlobalTable');
    expect(table?.Properties.Replicas[0].Tags).toEqual([
      { Key: 'cost-centre', Value: '42' },
      { Key: 'deployment', Value: 'sallyport' },
    ]);
  });

  test('the image is pulled from the repository of the bootstrap’s qualifier', () => {
    expect(JSON.stringify(templates.network)).toContain('repository/cdk-org1-container-assets-');
    expect(JSON.stringify(templates.compute)).not.toContain('hnb659fds');
  });
});
