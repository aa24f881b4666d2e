/**
 * Podman with images and settings of this check alone: the machine's own engine is left as it is.
 *
 * A second store stands for another machine, which has no layer of the first.
 */
import { spawnSync } from 'node:child_process';
import { mkdirSync, writeFileSync } from 'node:fs';
import { join, resolve } from 'node:path';

export const repository = resolve(import.meta.dirname, '..', '..');
export const home = join(repository, 'node_modules', '.image');

// biome-ignore lint/style/noProcessEnv: a program of its own, and this is its one read
const { npm_execpath, ...inherited } = process.env;
/** The npm that runs this program. */
export const npm = npm_execpath;

export type Store = 'built' | 'pulled';

const storageOf = (store: Store): string => join(home, `storage-${store}.conf`);
const containers = join(home, 'containers.conf');

export const environmentOf = (store: Store): Record<string, string | undefined> => ({
  ...inherited,
  DEBIAN_FRONTEND: 'noninteractive',
  CONTAINERS_CONF: containers,
  CONTAINERS_STORAGE_CONF: storageOf(store),
});

/** Podman would raise them beyond what a container around this program may allow. */
export const limits = ['nofile=1024:4096', 'nproc=1024:4096'];

export const writeSettings = (): void => {
  mkdirSync(home, { recursive: true });
  writeFileSync(
    containers,
    `[containers]\ndefault_ulimits = ${JSON.stringify(limits)}\n[engine]\nruntime = "runc"\n`,
  );
  for (const store of ['built', 'pulled'] as const)
    writeFileSync(
      storageOf(store),
      `[storage]\ndriver = "overlay"\ngraphroot = "${join(home, store)}"\nrunroot = "${join(home, `run-${store}`)}"\n`,
    );
};

export const say = (line: string): void => void process.stdout.write(`${line}\n`);

type Options = { readonly store?: Store; readonly variables?: Readonly<Record<string, string>> };

export const run = (
  program: string,
  parameters: readonly string[],
  { store = 'built', variables = {} }: Options = {},
): void => {
  const { status, error } = spawnSync(program, parameters, {
    cwd: repository,
    env: { ...environmentOf(store), ...variables },
    stdio: ['ignore', 'inherit', 'inherit'],
  });
  if (error !== undefined) throw error;
  if (status !== 0) throw new Error(`${program} ${parameters.slice(0, 3).join(' ')} ended with ${status}`);
};

export const printed = (
  program: string,
  parameters: readonly string[],
  { store = 'built' }: Options = {},
): string => {
  const { status, stdout, stderr } = spawnSync(program, parameters, {
    env: environmentOf(store),
    encoding: 'utf8',
    maxBuffer: 64 * 1024 ** 2,
  });
  if (status !== 0) throw new Error(`${program} ${parameters.slice(0, 3).join(' ')}: ${stderr}`);
  return stdout.trim();
};
