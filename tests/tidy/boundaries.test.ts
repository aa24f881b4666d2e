import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { beforeAll, describe, expect, test } from 'vitest';
import { isSource, readRepository, repositoryFolder } from './repository.ts';
import { runTool } from './run-tool.ts';

const fixtureFolder = fileURLToPath(new URL('./fixtures/boundaries', import.meta.url));
const config = '.dependency-cruiser.mjs';
const folderConfig = '.dependency-cruiser-folders.mjs';
const towers = ['cli', 'infra', 'local', 'operations', 'sandbox-task', 'sdk', 'shared', 'web'];
const folders = [
  'cli',
  'functions',
  'infra',
  'local',
  'operations',
  'sandbox-task',
  'sdk',
  'shared',
  'tests',
  'web',
];

type Report = {
  readonly modules: readonly { readonly source: string }[];
  readonly summary: {
    readonly violations: readonly { readonly rule: { readonly name: string }; readonly from: string }[];
    readonly ruleSetUsed: { readonly forbidden: readonly { readonly name: string }[] };
  };
};

const cruise = async (folder: string, { rules = config, of = folders } = {}) => {
  const args = ['-c', join(repositoryFolder, rules), '-T', 'json', ...of];
  const { output } = await runTool('depcruise', args, folder);
  const { modules, summary } = JSON.parse(output) as Report;
  return {
    modules: modules.map(({ source }) => source),
    rules: summary.ruleSetUsed.forbidden.map(({ name }) => name).toSorted(),
    violations: summary.violations.map(({ rule, from }) => `${rule.name}: ${from}`).toSorted(),
  };
};

const expected = [
  'adapters-are-told: shared/adapters/reads-environment.ts',
  'adapters-do-not-orchestrate: shared/adapters/orchestrates.ts',
  'application-uses-ports: shared/application/imports-adapter.ts',
  'cli-is-a-client: cli/imports-adapter.ts',
  'config-stands-alone: shared/config/imports-domain.ts',
  'contracts-know-only-domain: shared/contracts/imports-port.ts',
  'domain-is-pure: shared/domain/imports-node.ts',
  'domain-is-pure: shared/domain/imports-npm.ts',
  'domain-is-pure: shared/domain/imports-sibling.ts',
  'functions-stand-alone: functions/turn/imports-local.ts',
  'infra-names-handlers-by-path: infra/imports-domain.ts',
  'infra-names-handlers-by-path: infra/imports-handler.ts',
  'local-is-not-deployed: local/imports-cdk.ts',
  'no-cycle: shared/domain/cycle-other.ts',
  'no-test-in-production: functions/api/imports-test.ts',
  'no-unresolved: local/imports-nothing.ts',
  'nothing-needs-operations: local/imports-operations.ts',
  'one-function-per-folder: functions/turn/imports-function.ts',
  'operations-read-templates: operations/cost/imports-handler.ts',
  'platform-is-no-client: functions/turn/imports-client.ts',
  'ports-are-types: shared/ports/imports-value.ts',
  'ports-look-down: shared/ports/looks-up.ts',
  'sandbox-carries-no-control-plane: sandbox-task/imports-application.ts',
  'sandbox-carries-no-control-plane: sandbox-task/imports-cloud.ts',
  'sdk-sees-contracts: sdk/imports-adapter.ts',
  'sdk-sees-contracts: sdk/imports-node.ts',
  'shared-knows-no-caller: shared/knows-caller.ts',
  'web-sees-contracts: web/imports-application.js',
];

test('each boundary rule forbids its violation, and allows what the matrix allows', async () => {
  const { rules, violations } = await cruise(fixtureFolder);
  expect(violations).toEqual(expected);
  expect(new Set(expected.map((line) => line.split(':')[0]))).toEqual(new Set(rules));
});

const expectedOfFolders = [
  'no-folder-cycle: cli/approval',
  'no-folder-cycle: cli/conversation',
  'no-folder-cycle: infra/constructs',
  'no-folder-cycle: infra/stacks',
  'no-folder-cycle: sandbox-task/server',
  'no-folder-cycle: sandbox-task/wire',
  'no-folder-cycle: web/components',
  'no-folder-cycle: web/pages',
  'no-folder-imports-the-roof: local/ecs/imports-roof.ts',
  'no-folder-imports-the-roof: web/components/imports-roof.js',
  'the-floor-imports-no-folder: infra/imports-folder.ts',
  'the-floor-imports-no-folder: sdk/imports-folder.ts',
];

test('each rule of folders forbids its violation', async () => {
  const { rules, violations } = await cruise(fixtureFolder, { rules: folderConfig, of: towers });
  expect(violations).toEqual(expectedOfFolders);
  expect(new Set(expectedOfFolders.map((line) => line.split(':')[0]))).toEqual(new Set(rules));
});

describe('the repository', () => {
  let repository: Awaited<ReturnType<typeof cruise>>;
  beforeAll(async () => {
    repository = await cruise(repositoryFolder);
  });

  test('keeps every rule', () => {
    expect(repository.violations).toEqual([]);
  });

  test('keeps the rules of folders', async () => {
    const { modules, violations } = await cruise(repositoryFolder, { rules: folderConfig, of: towers });
    expect(violations).toEqual([]);
    expect(modules).toEqual(expect.arrayContaining(['infra/settings.ts', 'web/shell/shell.vue']));
  });

  test('has no source file that is skipped', () => {
    const sources = readRepository(repositoryFolder).filter(isSource);
    expect(repository.modules).toEqual(expect.arrayContaining(sources.map(({ path }) => path)));
  });
});

test('the npm script runs both configurations on the same folders', () => {
  const { scripts } = JSON.parse(readFileSync(join(repositoryFolder, 'package.json'), 'utf8')) as {
    readonly scripts: { readonly boundaries: string };
  };
  const runs = scripts.boundaries.split(' && ').map((run) => run.split(' ').slice(1));
  expect(runs.map((run) => run.toSorted())).toEqual([folders, ['-c', folderConfig, ...towers].toSorted()]);
});
