import { execFileSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, describe, expect, test } from 'vitest';
import { inRepository } from '../constructs/repository.ts';

const folder = mkdtempSync(join(tmpdir(), 'sallyport-synth-twice-'));
afterAll(() => rmSync(folder, { recursive: true }));

/** As `cdk synth` runs it, bundles and rules included, with nothing on the path and nobody's credentials. */
const synth = (stage: string, name: string): string => {
  const outdir = join(folder, name);
  const { context } = JSON.parse(readFileSync(inRepository('cdk.json'), 'utf8'));
  execFileSync(process.execPath, [inRepository('infra/stacks/app.ts')], {
    cwd: inRepository('.'),
    stdio: ['ignore', 'ignore', 'pipe'],
    env: {
      PATH: '/nonexistent',
      HOME: folder,
      NODE_COMPILE_CACHE: inRepository('node_modules/.compile-cache'),
      AWS_EC2_METADATA_DISABLED: 'true',
      CDK_OUTDIR: outdir,
      CDK_CONTEXT_JSON: JSON.stringify({ ...context, stage }),
    },
  });
  return outdir;
};

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

describe.each(['production', 'hardened'])('the synth of stage %s', (stage) => {
  const first = synth(stage, `${stage}-1`);
  const contents = contentsOf(first);

  test('needs neither Docker nor credentials nor a network', () => {
    expect(Object.keys(contents)).toEqual(expect.arrayContaining(['/manifest.json', '/tree.json']));
    expect(Object.keys(contents).filter((path) => path.endsWith('/index.mjs')).length).toBeGreaterThan(9);
  });

  test('is reproducible, every file byte for byte', () => {
    expect(contentsOf(synth(stage, `${stage}-2`))).toEqual(contents);
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
