/** The templates of every stage, as files for programs that read them. */
import { mkdirSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { settingsOf, stages } from '../../infra/settings.ts';
import { type Synthesised, synthesise } from '../../infra/stacks/synthesise.ts';
import { cache, pythonTool, versionOf } from './installed.ts';
import { run } from './programs.ts';
import type { Proof } from './proof.ts';

export const templatesOfStages = (): Readonly<Record<string, Synthesised>> =>
  Object.fromEntries(
    Object.keys(stages).map((stage) => [stage, synthesise({ settings: settingsOf(stage) })]),
  );

/** One with each peculiarity: the first of AWS, one of Europe. */
const regions = ['us-east-1', 'eu-central-1'];

const writeTemplates = (): readonly string[] => {
  const folder = join(cache, 'templates');
  rmSync(folder, { recursive: true, force: true });
  mkdirSync(folder, { recursive: true });
  return Object.entries(templatesOfStages()).flatMap(([stage, templates]) =>
    Object.entries(templates).map(([name, template]) => {
      const path = join(folder, `${stage}-${name}.template.json`);
      writeFileSync(path, JSON.stringify(template, undefined, 1));
      return path;
    }),
  );
};

export const lintedTemplates: Proof = {
  name: 'templates',
  about: 'the templates of every stage, read by cfn-lint',
  prove: async (say) => {
    const linter = `${await pythonTool({ name: 'cfn-lint', version: '1.58.0' })}/cfn-lint`;
    const templates = writeTemplates();
    const version = `${await versionOf(linter)}, ${await versionOf('python3')}`;
    say(version);
    say(`${templates.length} templates, in ${regions.join(' and ')}`);
    const words = ['--non-zero-exit-code', 'error', '--ignore-checks', 'W', '--regions', ...regions, '--'];
    const { code, out } = await run(linter, [...words, ...templates]);
    return { version, faults: code === 0 ? [] : [`cfn-lint ended with ${code}: ${out}`] };
  },
};
