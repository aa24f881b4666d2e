/**
 * The folder from which the image of an operator's template is built: the operator's Dockerfile and its folder, and behind
 * its last stage the platform's own, so that one build gives both.
 *
 * `node sandbox-task/template-image.ts <Dockerfile> <folder>` writes it. A file without a stage is refused.
 */
import { cp, mkdir, readFile, rm, writeFile } from 'node:fs/promises';
import { basename, dirname, join, resolve } from 'node:path';
import { bundleSandbox } from './bundle.ts';

/** The last stage of the image. */
export const templateTarget = 'sallyport-sandbox';
const lastStage = 'sallyport-template';
/** Holds the platform's programs, beside the operator's files. */
const ownFolder = '.sallyport';

export const writeTemplateFolder = async (dockerfile: string, folder: string): Promise<void> => {
  const from = resolve(dockerfile);
  const combined = combineDockerfiles(
    await readFile(from, 'utf8').catch((cause: NodeJS.ErrnoException) => {
      throw new Error(`${dockerfile} cannot be read: ${cause.code}`, { cause });
    }),
    await readFile(join(import.meta.dirname, 'Dockerfile'), 'utf8'),
  );
  await rm(folder, { recursive: true, force: true });
  await mkdir(folder, { recursive: true });
  await cp(dirname(from), folder, { recursive: true, filter: (path) => basename(path) !== '.git' });
  await bundleSandbox(join(folder, ownFolder));
  await writeFile(join(folder, 'Dockerfile'), combined);
  const ignored = await readFile(join(folder, '.dockerignore'), 'utf8').catch(() => '');
  await writeFile(join(folder, '.dockerignore'), `${ignored}\n!${ownFolder}\n!${ownFolder}/**\n`);
};

/** The platform's stage begins as root and sets its own entry, whatever user and command the operator's image has. */
export const combineDockerfiles = (own: string, sandbox: string): string => {
  const { text, stage } = withNamedStage(own);
  const begin = sandbox.indexOf(base);
  const end = sandbox.indexOf('FROM base AS python\n');
  if (begin < 0 || end < begin) throw new Error('the Dockerfile of the sandbox has other stages');
  const stages = sandbox
    .slice(begin, end)
    .replace(base, `FROM ${stage} AS ${templateTarget}\n`)
    .replaceAll(/(?<=[ ])dist\//g, `${ownFolder}/`);
  return `${text.trimEnd()}\n\n${stages.trimEnd()}\n`;
};

const base = `FROM \${NODE_IMAGE} AS base\n`;
const fromLine = /^[ \t]*FROM[ \t]+\S.*$/gim;
const stageName = /[ \t]AS[ \t]+(\S+)[ \t]*$/i;

const withNamedStage = (own: string): { readonly text: string; readonly stage: string } => {
  const last = [...own.matchAll(fromLine)].at(-1);
  if (last === undefined) throw new Error('the Dockerfile of a template has no FROM');
  const named = stageName.exec(last[0])?.[1];
  if (named !== undefined) return { text: own, stage: named };
  const end = last.index + last[0].length;
  return { text: `${own.slice(0, end).trimEnd()} AS ${lastStage}${own.slice(end)}`, stage: lastStage };
};

if (import.meta.main) {
  const [dockerfile = '', folder = ''] = process.argv.slice(2);
  await writeTemplateFolder(dockerfile, folder);
}
