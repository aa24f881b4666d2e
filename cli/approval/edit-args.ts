/** Editing of a call's arguments as JSON, in the editor that VISUAL or EDITOR names. */
import { spawn } from 'node:child_process';
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { JsonObject } from '#shared/domain/json.ts';
import type { Variables } from '../runtime/host.ts';

/** The changed arguments, or the reason why there are none. */
export const editArgs = async (args: JsonObject, variables: Variables): Promise<JsonObject | string> => {
  const editor = variables['VISUAL'] || variables['EDITOR'];
  if (!editor) return 'Set EDITOR to change a call.';
  const folder = await mkdtemp(join(tmpdir(), 'sallyport-edit-'));
  try {
    const file = join(folder, 'args.json');
    await writeFile(file, `${JSON.stringify(args, null, 2)}\n`, { mode: 0o600 });
    const code = await run(editor, file, variables);
    if (code !== 0) return `The editor ended with ${code}; nothing was changed.`;
    return readArgs(await readFile(file, 'utf8'));
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
};

/** EDITOR is a piece of a command line, as for git. */
const run = (editor: string, file: string, variables: Variables): Promise<number | string> =>
  new Promise((resolve) => {
    const child = spawn('/bin/sh', ['-c', `${editor} "$1"`, 'sh', file], {
      stdio: 'inherit',
      env: variables,
    });
    child.once('error', ({ message }) => resolve(message));
    child.once('exit', (code, signal) => resolve(code ?? signal ?? 1));
  });

export const readArgs = (text: string): JsonObject | string => {
  try {
    const args: unknown = JSON.parse(text);
    if (typeof args === 'object' && args !== null && !Array.isArray(args)) return args as JsonObject;
  } catch (error) {
    return `That is not JSON: ${error instanceof Error ? error.message : String(error)}`;
  }
  return 'The arguments must be a JSON object.';
};
