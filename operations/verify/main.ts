/**
 * Checks the templates of every stage with a linter that is not the CDK's own: `npm run verify:aws`.
 *
 * It installs cfn-lint of a fixed version from PyPI into a folder of its own, once; `npm test` needs none of it. An error of the
 * linter fails the check, a warning does not.
 */
import { spawnSync } from 'node:child_process';
import { existsSync, mkdirSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { inRepository } from '../../infra/constructs/assets.ts';
import { settingsOf, stages } from '../../infra/settings.ts';
import { synthesise } from '../../infra/stacks/synthesise.ts';

const version = '1.58.0';
const home = inRepository('node_modules/.verify-aws');
const linter = join(home, 'venv', 'bin', 'cfn-lint');
const folder = join(home, 'templates');
/** One with each peculiarity: the first of AWS, one of Europe. */
const regions = ['us-east-1', 'eu-central-1'];

const run = (program: string, args: readonly string[]): { readonly code: number; readonly out: string } => {
  const { status, error, stdout, stderr } = spawnSync(program, args, { encoding: 'utf8' });
  if (error !== undefined) throw error;
  return { code: status ?? 1, out: `${stdout}${stderr}` };
};

const printed = (program: string, args: readonly string[]): string => {
  const { code, out } = run(program, args);
  if (code !== 0) throw new Error(`${program} ${args.slice(0, 3).join(' ')} ended with ${code}: ${out}`);
  return out.trim();
};

const install = (): void => {
  if (existsSync(linter) && printed(linter, ['--version']).endsWith(version)) return;
  printed('python3', ['-m', 'venv', join(home, 'venv')]);
  printed(join(home, 'venv', 'bin', 'pip'), ['install', '--quiet', `cfn-lint==${version}`]);
};

const writeTemplates = (): readonly string[] => {
  rmSync(folder, { recursive: true, force: true });
  mkdirSync(folder, { recursive: true });
  return Object.keys(stages).flatMap((stage) =>
    Object.entries(synthesise({ settings: settingsOf(stage) })).map(([name, template]) => {
      const path = join(folder, `${stage}-${name}.template.json`);
      writeFileSync(path, JSON.stringify(template, undefined, 1));
      return path;
    }),
  );
};

install();
const templates = writeTemplates();
const versions = [printed(linter, ['--version']), printed('python3', ['--version'])];
process.stdout.write(`${versions.join(', ')}: ${templates.length} templates, ${regions.join(' and ')}\n`);
const { code, out } = run(linter, [
  '--non-zero-exit-code',
  'error',
  '--ignore-checks',
  'W',
  '--regions',
  ...regions,
  '--',
  ...templates,
]);
process.stdout.write(out);
process.stdout.write(code === 0 ? 'No errors.\n' : 'The templates have errors.\n');
process.exitCode = code;
