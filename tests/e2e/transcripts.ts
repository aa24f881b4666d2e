/**
 * Transcripts of documents: blocks of `console`, in which a line that begins with `$ ` is a command, which goes on where the
 * line ends with a backslash, and every other line is what the commands print.
 *
 * `…` stands for what differs each time: within a line, or as a line of its own for any lines.
 */
import { execFile } from 'node:child_process';
import { mkdir, mkdtemp, readFile, rm, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { onTestFinished } from 'vitest';
import { compileCache, type Server } from './server.ts';

const repository = join(import.meta.dirname, '..', '..');

export type Transcript = { readonly commands: readonly string[]; readonly printed: readonly string[] };

export const readTranscripts = async (page: string): Promise<readonly Transcript[]> => {
  const text = await readFile(join(repository, page), 'utf8');
  return [...text.matchAll(/```console\n([\s\S]*?)\n```/g)].map(([, block = '']) => parse(block));
};

const parse = (block: string): Transcript => {
  const commands: string[] = [];
  const printed: string[] = [];
  let isOpen = false;
  for (const line of block.split('\n')) {
    if (isOpen) commands.push(`${commands.pop()}\n${line}`);
    else if (line.startsWith('$ ')) commands.push(line.slice(2));
    else if (line !== '') printed.push(line);
    isOpen = (isOpen || line.startsWith('$ ')) && line.endsWith('\\');
  }
  return { commands, printed };
};

const escaped = (text: string): string => text.replaceAll(/[.*+?^${}()|[\]\\]/g, String.raw`\$&`);

/** A line anywhere in the output. */
export const linePattern = (line: string): RegExp => new RegExp(line.split('…').map(escaped).join('.*'));

/** All of the output, from its first line to its last. */
export const outputPattern = (printed: readonly string[]): RegExp =>
  new RegExp(
    `^${printed
      .map((line) => (line === '…' ? '(?:.*\\n)*?' : `${line.split('…').map(escaped).join('.*')}\\n+`))
      .join('')}$`,
  );

type Options = {
  /** Texts of the page, by what stands for them in a test; they are turned back in the output. */
  readonly words?: readonly (readonly [string, string])[];
  /** Programs of the page, by their file names. */
  readonly programs?: Readonly<Record<string, string>>;
};

/** Runs all blocks of a page in one shell, in a new folder, and returns what each printed. */
export const runTranscripts = async (
  transcripts: readonly Transcript[],
  server: Server,
  { words = [], programs = {} }: Options = {},
): Promise<readonly string[]> => {
  const folder = await mkdtemp(join(tmpdir(), 'sallyport-page-'));
  const work = join(folder, 'work');
  try {
    await mkdir(work);
    await symlink(server.home, join(work, '.sallyport'));
    await symlink(join(repository, 'node_modules'), join(work, 'node_modules'));
    for (const [name, text] of Object.entries(programs)) await writeFile(join(work, name), text);
    const all = [['http://127.0.0.1:4350', server.url], ['sp_…', server.token], ...words] as const;
    const inTest = (text: string): string =>
      all.reduce((changed, [from, to]) => changed.replaceAll(from, to), text);
    const onPage = (text: string): string =>
      all.reduce((changed, [from, to]) => changed.replaceAll(to, from), text);
    await writeFile(join(folder, 'page.sh'), shellScript(transcripts, inTest));
    const shell = promisify(execFile)('bash', [join(folder, 'page.sh')], {
      cwd: work,
      env: { ...compileCache, PATH: '/usr/bin:/bin', HOME: folder },
    });
    // A loop of a page that waits in vain would go on beside the next try.
    onTestFinished(() => void shell.child.kill());
    await shell;
    const outputs = transcripts.map((_, index) => readFile(join(folder, `${index}.txt`), 'utf8'));
    return (await Promise.all(outputs)).map(onPage);
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
};

/** `npx` and `node` are those of this repository, and programs in the background end with the page. */
const shellScript = (transcripts: readonly Transcript[], inTest: (text: string) => string): string =>
  [
    `npx() { shift; '${process.execPath}' '${join(repository, 'cli', 'sallyport.js')}' "$@"; }`,
    `node() { exec '${process.execPath}' "$@"; }`,
    `trap 'kill $(jobs -p) 2> ended.txt' EXIT`,
    ...transcripts.map(
      ({ commands }, index) => `{\n${inTest(commands.join('\n'))}\n} > ../${index}.txt 2>&1`,
    ),
    'exit 0',
  ].join('\n');
