import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, describe, expect, test } from 'vitest';
import { settingsOf } from './settings.ts';
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

  test('is not needed', () => {
    expect(readSettings('staging')).toEqual(settingsOf('staging'));
  });

  test.each([
    ['{"alarmEmail":["a@example.com"]}', /there is no setting alarmEmail/],
    ['{"logDays":"30"}', /logDays is a string and not a number/],
    ['{"stage":"mine"}', /there is no stage "mine"/],
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
