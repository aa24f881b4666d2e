import { cpSync, mkdtempDisposableSync, readFileSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { expect, test } from 'vitest';
import { repositoryFolder } from './repository.ts';
import { runTool } from './run-tool.ts';

const fixtureFolder = fileURLToPath(new URL('./fixtures/lint', import.meta.url));
/** One finding as Biome writes it for GitHub: a stable form of one line. */
const finding = /^::error title=([\w/]+),file=(.+?),line=/gm;

/** Lints the bad files with our own settings, outside of the repository, whose settings leave fixtures out. */
const lintFixtures = async (): Promise<readonly string[]> => {
  using folder = mkdtempDisposableSync(join(tmpdir(), 'lint-rules-'));
  cpSync(fixtureFolder, folder.path, { recursive: true });
  const lines = Array.from({ length: 401 }, (_, place) => `export const line${place} = ${place};\n`);
  writeFileSync(join(folder.path, 'no-excessive-lines-per-file.ts'), lines.join(''));
  for (const settings of ['biome.json', '.gitignore'])
    cpSync(join(repositoryFolder, settings), join(folder.path, settings));
  const args = ['ci', '--reporter=github', '--max-diagnostics=none', '--colors=off', '.'];
  const { output } = await runTool('biome', args, folder.path);
  const findings = Array.from(output.matchAll(finding), ([, rule, path = '']) => {
    return `${path.replace(`${folder.path}/`, '').replace(/^\.\//, '')}: ${rule}`;
  });
  return [...new Set(findings)].toSorted();
};

const expected = [
  'Not_kebab.ts: lint/style/useFilenamingConvention',
  'format.ts: format',
  'no-console.ts: lint/suspicious/noConsole',
  'no-default-export.ts: lint/style/noDefaultExport',
  'no-enum.ts: lint/style/noEnum',
  'no-excessive-cognitive-complexity.ts: lint/complexity/noExcessiveCognitiveComplexity',
  'no-excessive-lines-per-file.ts: lint/style/noExcessiveLinesPerFile',
  'no-excessive-lines-per-function.ts: lint/complexity/noExcessiveLinesPerFunction',
  'no-explicit-any.ts: lint/suspicious/noExplicitAny',
  'no-floating-promises.ts: lint/nursery/noFloatingPromises',
  'no-focused-tests.test.ts: lint/suspicious/noFocusedTests',
  'no-import-cycles-other.ts: lint/suspicious/noImportCycles',
  'no-import-cycles.ts: lint/suspicious/noImportCycles',
  'no-js-restricted-properties.test.ts: lint/nursery/noJsRestrictedProperties',
  'no-misused-promises.ts: lint/nursery/noMisusedPromises',
  'no-non-null-assertion.ts: lint/style/noNonNullAssertion',
  'no-parameter-properties.ts: lint/style/noParameterProperties',
  'no-process-env.ts: lint/style/noProcessEnv',
  'no-re-export-all.ts: lint/performance/noReExportAll',
  'no-skipped-tests.test.ts: lint/suspicious/noSkippedTests',
  'organize-imports.ts: assist/source/organizeImports',
  'sdk/denied-location.ts: lint/style/noRestrictedGlobals',
  'shared/domain/denied-crypto.ts: lint/style/noRestrictedGlobals',
  'shared/domain/denied-date.ts: lint/style/noRestrictedGlobals',
  'shared/domain/denied-fetch.ts: lint/style/noRestrictedGlobals',
  'shared/domain/denied-mock.test.ts: lint/nursery/noJsRestrictedProperties',
  'shared/domain/denied-random.ts: lint/nursery/noJsRestrictedProperties',
  'shared/domain/denied-timeout.ts: lint/style/noRestrictedGlobals',
  'shared/domain/no-nodejs-modules.ts: lint/correctness/noNodejsModules',
  'use-exhaustive-switch-cases.ts: lint/nursery/useExhaustiveSwitchCases',
  'use-import-extensions.ts: lint/correctness/useImportExtensions',
  'use-import-type.ts: lint/style/useImportType',
  'use-max-params.ts: lint/complexity/useMaxParams',
  'use-throw-only-error.ts: lint/style/useThrowOnlyError',
];

test('each bad file is refused for its own reason, and a good one passes', async () => {
  expect(await lintFixtures()).toEqual(expected);
});

type Severity = string | { readonly level: string };
type LinterSettings = { readonly rules: Readonly<Record<string, Readonly<Record<string, Severity>>>> };
type BiomeSettings = {
  readonly linter: LinterSettings;
  readonly overrides: readonly { readonly linter: LinterSettings }[];
};

test('every configured lint rule has a bad file here', () => {
  const settings = JSON.parse(readFileSync(join(repositoryFolder, 'biome.json'), 'utf8')) as BiomeSettings;
  const rules = [settings, ...settings.overrides].flatMap(({ linter }) =>
    Object.entries(linter.rules).flatMap(([group, entries]) =>
      Object.entries(entries)
        .filter(([, severity]) => severity !== 'off')
        .map(([rule]) => `lint/${group}/${rule}`),
    ),
  );
  const proven = new Set(expected.map((line) => line.split(': ')[1]));
  expect(rules.filter((rule) => !proven.has(rule))).toEqual([]);
});
