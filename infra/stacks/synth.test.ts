import { execFileSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { inRepository } from '../constructs/repository-path.ts';

const folder = mkdtempSync(join(tmpdir(), 'sallyport-synth-twice-'));
afterAll(() => rmSync(folder, { recursive: true }));

const stages = ['production', 'hardened'];

/** Runs the program once for each stage: most of a synth is what a process does once, the bundles and the reading of the rules. */
const eachStage = `
  for (const { stage, variables } of JSON.parse(process.argv[1])) {
    Object.assign(process.env, variables);
    await import(\`${pathToFileURL(inRepository('infra/stacks/app.ts')).href}?\${stage}\`);
  }
`;

/** As `cdk synth` runs it, bundles and rules included, with nothing on the path and nobody's credentials. */
const synth = (into: string, ofStages: readonly string[]): void => {
  const { context } = JSON.parse(readFileSync(inRepository('cdk.json'), 'utf8'));
  const runs = ofStages.map((stage) => ({
    stage,
    variables: {
      CDK_OUTDIR: join(folder, into, stage),
      CDK_CONTEXT_JSON: JSON.stringify({ ...context, stage }),
    },
  }));
  execFileSync(process.execPath, ['--input-type=module', '--eval', eachStage, JSON.stringify(runs)], {
    cwd: inRepository('.'),
    stdio: ['ignore', 'ignore', 'pipe'],
    env: {
      PATH: '/nonexistent',
      HOME: folder,
      NODE_COMPILE_CACHE: inRepository('node_modules/.compile-cache'),
      AWS_EC2_METADATA_DISABLED: 'true',
    },
  });
};

beforeAll(() => {
  synth('first', stages);
  // In the other order: a stage depends neither on its process nor on what was made there before it.
  synth('second', stages.toReversed());
});

const contentsOf = (outdir: string): Readonly<Record<string, string>> =>
  Object.fromEntries(
    readdirSync(outdir, { recursive: true, withFileTypes: true })
      .filter((entry) => entry.isFile())
      .map(({ parentPath, name }) => {
        const path = join(parentPath, name);
        return [
          path.slice(outdir.length),
          createHash('sha256').update(readFileSync(path)).digest('hex'),
        ] as const;
      })
      .sort(([one], [other]) => one.localeCompare(other)),
  );

type Assets = { readonly dockerImages: Readonly<Record<string, { readonly source: object }>> };

describe.each(stages)('the synth of stage %s', (stage) => {
  const first = join(folder, 'first', stage);

  test('needs neither Docker nor credentials nor a network', () => {
    const names = Object.keys(contentsOf(first));
    expect(names).toEqual(expect.arrayContaining(['/manifest.json', '/tree.json']));
    expect(names.filter((path) => path.endsWith('/index.mjs')).length).toBeGreaterThan(9);
  });

  test('is reproducible, every file byte for byte', () => {
    expect(contentsOf(join(folder, 'second', stage))).toEqual(contentsOf(first));
  });

  test('has images for arm64 whose layers are all compressed with zstd', () => {
    const [assets = ''] = readdirSync(first).filter((name) => name.endsWith('-compute.assets.json'));
    const { dockerImages }: Assets = JSON.parse(readFileSync(join(first, assets), 'utf8'));
    const sources = Object.values(dockerImages).map(({ source }) => source);
    const images = ['python', 'node'].map((dockerBuildTarget) =>
      expect.objectContaining({
        dockerBuildTarget,
        platform: 'linux/arm64',
        dockerOutputs: [
          'type=image,oci-mediatypes=true,compression=zstd,compression-level=3,force-compression=true',
        ],
      }),
    );
    expect(sources).toHaveLength(2);
    expect(sources).toEqual(expect.arrayContaining(images));
  });
});
