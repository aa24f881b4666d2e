/**
 * The documents of settings against the settings: every variable once, with its default and the words that a bad value is
 * answered with; every setting of a stage.
 */
import { mkdtempSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { readVariables } from '#shared/config/read-variables.ts';
import { localSettings, operatorSettings } from '#shared/config/settings.ts';
import type { Settings } from '../../infra/settings.ts';
import { readSettings } from '../../infra/settings-file.ts';
import { readRepository, repositoryFolder, textOf } from './repository.ts';

const files = readRepository(repositoryFolder);
const text = textOf(files, 'docs/settings.md');
const localHeading = 'Only on one machine';

type Row = { readonly key: string; readonly shown: string; readonly allowed: string };

const rowsOf = (part: string): readonly Row[] =>
  part
    .split('\n')
    .filter((line) => line.startsWith('| `'))
    .map((line) => {
      const [key = '', shown = '', allowed = ''] = line
        .split('|')
        .slice(1)
        .map((cell) => cell.trim().replaceAll(/[`\\]/g, ''));
      return { key, shown, allowed };
    });

type Key = keyof typeof localSettings.shape;
const keys = Object.keys(localSettings.shape) as Key[];
const localKeys = keys.filter((key) => !(key in operatorSettings.shape));

const defaultOf = (key: Key): string => {
  const { data } = localSettings.shape[key].safeParse(undefined);
  return data === undefined || (Array.isArray(data) && data.length === 0) ? '–' : String(data);
};

/** Longer than any setting may be. */
const badValue = 'x'.repeat(3000);
const allowedOf = (key: Key): string => {
  const read = readVariables(localSettings, { [key]: badValue });
  const told = read.ok ? [] : read.problems.filter((problem) => problem.startsWith(`${key}=`));
  return told.join().split(' is not allowed: set it to ')[1] ?? 'anything';
};

const byKey = (one: Row, other: Row): number => (one.key < other.key ? -1 : 1);

test('every setting is in the document with its default and what is allowed', () => {
  const rows = keys.map((key) => ({ key, shown: defaultOf(key), allowed: allowedOf(key) }));
  expect(rowsOf(text).toSorted(byKey)).toEqual(rows.toSorted(byKey));
});

test('the variables that a stage has in other fields are named at the beginning', () => {
  const path = join(mkdtempSync(join(tmpdir(), 'settings-')), 'settings.json');
  const isRefused = (key: string): boolean => {
    writeFileSync(path, JSON.stringify({ variables: { [key]: '1' } }));
    try {
      readSettings('production', path);
      return false;
    } catch {
      return true;
    }
  };
  const [intro = ''] = text.split('\n## ');
  const isNamed = (key: string): boolean =>
    intro.includes(`\`${key}\``) || (key.startsWith('OIDC_') && intro.includes('`OIDC_*`'));
  const elsewhere = Object.keys(operatorSettings.shape).filter(isRefused);
  expect(elsewhere).toContain('SIGN_IN_SECONDS');
  expect(elsewhere.filter((key) => !isNamed(key))).toEqual([]);
});

test('settings for one machine only are in their own section', () => {
  const section = text.split(`\n## ${localHeading}\n`)[1]?.split('\n## ')[0] ?? '';
  expect(rowsOf(section).map(({ key }) => key)).toEqual(expect.arrayContaining(localKeys));
  expect(rowsOf(section)).toHaveLength(localKeys.length);
});

/** All of them: a setting without a line here does not compile. */
const stageSettings: Readonly<Record<keyof Settings, true>> = {
  account: true,
  alarmEmails: true,
  alarmTopicArn: true,
  bootstrapQualifier: true,
  deployment: true,
  distributionLogs: true,
  domain: true,
  encryption: true,
  firewall: true,
  flavorsAllowed: true,
  logDays: true,
  network: true,
  oidc: true,
  ownsApiLogRole: true,
  permissionsBoundaryArn: true,
  projectSecretsKeyArn: true,
  providerKeyArns: true,
  region: true,
  requestBurstMax: true,
  requestsPerSecondMax: true,
  reservedConcurrency: true,
  runbookUrl: true,
  seals: true,
  tags: true,
  templates: true,
  variables: true,
};

test('every setting of a stage is in the page about deploying', () => {
  const deploy = textOf(files, 'docs/deploy.md');
  const section = deploy.split('\n## Settings of a stage\n')[1]?.split('\n## ')[0] ?? '';
  const named = section
    .split('\n')
    .filter((line) => line.startsWith('| `'))
    .flatMap((line) => Array.from((line.split('|')[1] ?? '').matchAll(/`(\w+)`/g), ([, name = '']) => name));
  expect(named.toSorted()).toEqual(Object.keys(stageSettings).toSorted());
});
