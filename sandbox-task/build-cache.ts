/**
 * Builds that are kept below `node_modules`, each under a name for the state of its sources, and made again when these have changed.
 *
 * A build is moved into place whole, since two programs may make it at once. A program that reads a build for as long as it runs
 * holds it: builds of older sources are deleted, but for those that a living process holds.
 */
import { createHash } from 'node:crypto';
import { chmod, mkdir, mkdtemp, readdir, readFile, rename, rm, stat, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { isRunning, startOf } from './process-identity.ts';

type CachedBuild = {
  /** The folder of all builds of a kind; it has no other content. */
  readonly kept: string;
  /** Files, and folders whose sources count. */
  readonly sources: readonly string[];
  /** True where the calling process reads the build until it ends. */
  readonly isHeld: boolean;
  readonly buildInto: (folder: string) => Promise<void>;
};

/** The folder of the build. */
export const cacheBuild = async ({ kept, sources, isHeld, buildInto }: CachedBuild): Promise<string> => {
  const target = join(kept, await nameOf(sources));
  if (await isMissing(target)) await make(target, { kept, buildInto });
  if (isHeld) await writeFile(join(target, `${holder}${process.pid}`), startOf(process.pid));
  return target;
};

const make = async (
  target: string,
  { kept, buildInto }: Pick<CachedBuild, 'kept' | 'buildInto'>,
): Promise<void> => {
  await mkdir(kept, { recursive: true });
  const old = (await readdir(kept)).filter((name) => !name.startsWith(unfinished));
  const fresh = await mkdtemp(join(kept, unfinished));
  await buildInto(fresh);
  await chmod(fresh, 0o755);
  await rename(fresh, target).catch(() => rm(fresh, { recursive: true }));
  for (const path of old.map((name) => join(kept, name)))
    if (path !== target && !(await isInUse(path))) await rm(path, { recursive: true, force: true });
};

const unfinished = 'new-';
/** Of a file that holds the start of the process, and that `local/install-packages.sh` reads as well. */
const holder = 'held-by-';

const isInUse = async (build: string): Promise<boolean> => {
  const names = await readdir(build).catch(() => []);
  const holders = names.filter((name) => name.startsWith(holder));
  const running = holders.map(async (name) =>
    isRunning(Number(name.slice(holder.length)), await readFile(join(build, name), 'utf8')),
  );
  return (await Promise.all(running)).includes(true);
};

const isMissing = async (path: string): Promise<boolean> =>
  stat(path).then(
    () => false,
    () => true,
  );

const nameOf = async (sources: readonly string[]): Promise<string> => {
  const paths = (await Promise.all(sources.map(sourcesBelow))).flat().toSorted();
  const states = await Promise.all(
    paths.map(async (path) => {
      const { mtimeMs, size } = await stat(path);
      return `${path} ${mtimeMs} ${size}`;
    }),
  );
  return createHash('sha256').update(states.join('\n')).digest('hex').slice(0, 16);
};

const sourcesBelow = async (path: string): Promise<readonly string[]> => {
  const { isFile } = await stat(path).then((found) => ({ isFile: found.isFile() }));
  if (isFile) return [path];
  const entries = await readdir(path, { recursive: true, withFileTypes: true });
  return entries
    .filter(({ name, parentPath }) => isSource(name) && !parentPath.endsWith('/dist'))
    .map(({ name, parentPath }) => join(parentPath, name));
};

const isSource = (name: string): boolean => /(?<![.]test)[.](ts|py|json)$/.test(name);
