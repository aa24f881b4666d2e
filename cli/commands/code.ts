/**
 * `code`: runs code in a named context of a session, and prints its output and the values that it displays.
 *
 * Results that are no text are written to files, if a folder for them is given.
 */
import { mkdir, writeFile } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import type { BodyOf } from '#sdk/route.ts';
import { api, type CodeResult } from '#sdk/routes.ts';
import { abortable } from '../runtime/abort.ts';
import { type Call, type Command, flag, given, value, wholeNumber } from '../runtime/command.ts';
import { makeStripper } from '../runtime/control-characters.ts';
import { readPiped } from '../runtime/prompt.ts';
import {
  networkDetail,
  newSandboxOptions,
  newSandboxUsage,
  newSessionOf,
  refuseBesideSession,
} from './new-session.ts';
import { endingSession, makeSession } from './session-end.ts';

type Bundle = CodeResult['results'][number];
type Options = Omit<BodyOf<typeof api.runCode>, 'code'>;

const codeBytesMax = 1_048_576;

const run = async (call: Call): Promise<number> => {
  refuseBesideSession(call, []);
  const [text = '-'] = call.positionals;
  const code = text === '-' ? await readPiped(call.host, codeBytesMax) : text;
  const timeoutSeconds = wholeNumber(call.text('timeout'), 'timeout');
  const options = given<Options>({
    context: call.text('context'),
    language: call.text('language'),
    timeoutSeconds,
  });
  const abort = abortable(call.host, 'stopped waiting for the result');
  let sessionId = call.text('session');
  const work = async (): Promise<number> => {
    const id = sessionId ?? (await newSession(call, abort.signal));
    sessionId = id;
    abort.signal.throwIfAborted();
    const request = { params: { id }, body: { code, ...options } };
    const result = await call.request(api.runCode, request, { signal: abort.signal });
    call.output.result({ sessionId: id, ...result }, () => []);
    if (!call.output.isJson) await print(call, result);
    return result.exitCode & 0xff || (result.exitCode === 0 ? 0 : 1);
  };
  try {
    return await endingSession(call, () => sessionId, work);
  } finally {
    abort.release();
    const isNew = sessionId !== undefined && call.text('session') === undefined;
    if (!call.isSet('stop') && isNew && call.host.stderr.isTTY === true)
      call.output.note(`The session stays active: reuse it with --session ${sessionId}`);
  }
};

/** Without a template it has that of the language. */
const newSession = (call: Call, signal: AbortSignal): Promise<string> => {
  const language = given<{ readonly template?: string }>({ template: call.text('language') });
  return makeSession(call, { kind: 'execution', ...language, ...newSessionOf(call) }, signal);
};

const print = async (call: Call, result: CodeResult): Promise<void> => {
  const { output, host } = call;
  const strip = host.stdout.isTTY === true ? makeStripper() : (text: string) => text;
  await output.raw(strip(result.stdout));
  await output.raw(host.stderr.isTTY === true ? makeStripper()(result.stderr) : result.stderr, 'stderr');
  const folder = call.text('save');
  for (const [index, bundle] of result.results.entries()) {
    output.line(textOf(bundle));
    if (folder !== undefined) await save(call, resolve(host.folder, folder, String(index + 1)), bundle);
  }
  for (const notice of result.notices ?? []) output.note(notice);
  if (result.stateLost === true) output.note('The variables of earlier calls were lost.');
  const { error } = result;
  const isOurs = error !== undefined && !['runtime_error', 'code_execution_error'].includes(error.type);
  if (isOurs) output.note([`sallyport: ${error.message} (${error.type})`, ...error.suggestions].join('\n  '));
};

const textOf = (bundle: Bundle): string => {
  const plain = bundle['text/plain'];
  return typeof plain === 'string' ? plain : `[${Object.keys(bundle).join(', ')}]`;
};

/** One file for each form, in a folder for each result: `1/image.png`. */
const save = async ({ output }: Call, folder: string, bundle: Bundle): Promise<void> => {
  await mkdir(folder, { recursive: true });
  const names = new Set<string>();
  for (const [mime, data] of Object.entries(bundle)) {
    const name = fileNameOf(mime, names);
    names.add(name);
    const path = join(folder, name);
    const text = typeof data === 'string' ? data : JSON.stringify(data, undefined, 2);
    await writeFile(path, isBase64(mime, data) ? Buffer.from(text, 'base64') : text);
    output.note(path);
  }
};

/** Short where no other form of the result has that name: `application.json`, then `application.geo+json`. */
const fileNameOf = (mime: string, taken: ReadonlySet<string>): string => {
  const [kind = '', ending = ''] = mime.replaceAll(/[^\w/+.-]/g, '_').split('/');
  const short = `${kind}.${ending.replace('svg+xml', 'svg').replace(/^.*\+/, '')}`;
  const names = [short, `${kind}.${ending}`];
  for (let count = 2; count <= taken.size + 1; count += 1) names.push(`${kind}.${count}.${ending}`);
  return names.find((name) => !taken.has(name)) ?? short;
};

/** As the sandbox sends a form: text, a JSON value, or else bytes (`sandbox-task/wire/program-messages.ts`). */
const isBase64 = (mime: string, data: unknown): boolean =>
  typeof data === 'string' &&
  !/^(?:text\/.*|image\/svg\+xml|application\/(?:javascript|json)|.*\+json)$/.test(mime);

export const codeCommand: Command = {
  name: 'code',
  usage: `[--session <id>] [--language python|node] [--context <name>] [--timeout <seconds>] ${newSandboxUsage} [--save <folder>] [--stop] [code or -]`,
  summary: 'Run code and print its output and results',
  details: [
    'Variables last from call to call in a context: `default`, or the one that --context names. Without code, or with -,',
    'the code is read from stdin. --save writes every form of a result to a file. A new session stays active for --session',
    'until its idle timeout; --stop ends the session immediately.',
    networkDetail,
  ],
  options: {
    session: value,
    language: value,
    context: value,
    timeout: value,
    ...newSandboxOptions,
    save: value,
    stop: flag,
  },
  positionals: { min: 0, max: 1 },
  run,
};
