/**
 * The licences of third-party packages in a bundle, as their terms require of each copy.
 *
 * A package without a licence file stops the build: its terms are not known.
 */
import { readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { Metafile } from 'esbuild';
import { inRepository } from '../../infra/constructs/repository-path.ts';

/** Of a package, also inside another one's `node_modules`. */
const packageFolder = /^.*node_modules\/(?:@[^/]+\/)?[^/]+(?=\/)/;
const licenceName = /^licen[cs]e(\.md|\.txt)?$/i;

/** One text for all packages whose code is in the outputs. The paths are relative to the repository. */
export const licencesOf = async ({ outputs }: Metafile): Promise<string> => {
  const files = Object.values(outputs).flatMap(({ inputs }) =>
    Object.entries(inputs).flatMap(([path, { bytesInOutput }]) => (bytesInOutput > 0 ? [path] : [])),
  );
  const folders = new Set(files.flatMap((path) => packageFolder.exec(path)?.[0] ?? []));
  const texts = await Promise.all([...folders].toSorted().map((folder) => licenceOf(inRepository(folder))));
  return texts.join('\n');
};

const licenceOf = async (folder: string): Promise<string> => {
  const { name, version, license } = JSON.parse(await readFile(join(folder, 'package.json'), 'utf8'));
  const file = (await readdir(folder)).find((entry) => licenceName.test(entry));
  if (file === undefined) throw new Error(`${name} ${version} has no licence file`);
  const text = (await readFile(join(folder, file), 'utf8')).trim();
  return `${name} ${version} (${license})\n\n${text}\n`;
};
