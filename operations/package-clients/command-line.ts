/**
 * The command line client for machines without a checkout: two files without dependencies, the licences of the code within, and
 * the manifest of a package, from which the program reads its version as it does in a checkout.
 */
import { copyFile, mkdir, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { build } from 'esbuild';
import { inRepository } from '../../infra/constructs/repository-path.ts';
import { licencesOf } from './licences.ts';

const nodeVersionMin = 24;

/** In syntax that any Node reads: an older one says which it needs. */
const entry = `#!/usr/bin/env node
if (Number.parseInt(process.versions.node, 10) >= ${nodeVersionMin}) await import('./program.js');
else {
  process.stderr.write(\`sallyport: Node ${nodeVersionMin} or newer is required, this is \${process.version}\\n\`);
  process.exitCode = 1;
}
`;

/** Writes into the folder `dist`, the licence and the manifest of the package. */
export const buildCommandLine = async (folder: string): Promise<void> => {
  await mkdir(folder, { recursive: true });
  const { metafile } = await build({
    entryPoints: [inRepository('cli/main.ts')],
    outfile: join(folder, 'dist', 'program.js'),
    bundle: true,
    metafile: true,
    absWorkingDir: inRepository('.'),
    format: 'esm',
    platform: 'node',
    target: `node${nodeVersionMin}`,
    mainFields: ['module', 'main'],
    // A library within calls `require`, which an ES module has not.
    banner: {
      js: "import{createRequire}from'node:module';const require=createRequire(import.meta.url);",
    },
    minifyWhitespace: true,
    minifySyntax: true,
    lineLimit: 640,
    legalComments: 'none',
  });
  const { version, license } = JSON.parse(await readFile(inRepository('package.json'), 'utf8'));
  const manifest = {
    name: 'sallyport',
    ...{ version, license, private: true, type: 'module' },
    description: 'The command line client of Sallyport.',
    engines: { node: `>=${nodeVersionMin}` },
    bin: { sallyport: 'dist/sallyport.js' },
  };
  await writeFile(join(folder, 'dist', 'sallyport.js'), entry);
  await writeFile(join(folder, 'package.json'), `${JSON.stringify(manifest, undefined, 2)}\n`);
  await copyFile(inRepository('LICENSE'), join(folder, 'LICENSE'));
  await writeFile(join(folder, 'THIRD-PARTY-LICENSES'), await licencesOf(metafile));
};
