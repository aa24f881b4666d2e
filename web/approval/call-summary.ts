/**
 * A tool call for people: a title, its arguments in a readable form, and its exit code. Pure.
 *
 * With an argument that a form does not show, all of them are shown as JSON.
 */
import type { ToolContent } from '#shared/domain/event-log.ts';
import { exitCodeIn } from '#shared/domain/execution-failure.ts';
import type { JsonObject } from '#shared/domain/json.ts';
import { visibleText } from '#shared/domain/visible-text.ts';
import type { IconName } from '../components/icon.vue';

export type CallForm =
  | { readonly kind: 'none' }
  | {
      readonly kind: 'code';
      readonly language: string;
      readonly code: string;
      /** The argument that contains the code; without it the code is all arguments. */
      readonly field?: string;
    }
  | { readonly kind: 'file'; readonly path: string; readonly content: string; readonly field: string };

export type CallSummary = { readonly title: string; readonly icon: IconName; readonly form: CallForm };

export const summarizeCall = (name: string, args: JsonObject): CallSummary => {
  const { timeout, ...acts } = args;
  const isTimed = typeof timeout === 'number' && args['background'] !== true;
  const { title, icon, form } = describe(name, isTimed ? acts : args, args);
  return { title: visibleText(isTimed ? `${title}, ${timeout} s at most` : title), icon, form };
};

type Called = { readonly name: string; readonly content: readonly ToolContent[] | null };

/** Exit code of a call's failed program; undefined after success, and for calls that run no program. */
export const exitOf = ({ name, content }: Called): number | undefined => {
  const said = content?.[0]?.['text'];
  return programs.has(name) && isText(said) ? exitCodeIn(said) : undefined;
};

const programs: ReadonlySet<string> = new Set(['execute_command', 'execute_code']);

const describe = (name: string, args: JsonObject, all: JsonObject): CallSummary =>
  describeProgram(name, args) ??
  describeFile(name, args) ??
  describeProcess(name, args) ??
  describeSpawn(name, args) ?? {
    title: `Call ${name}`,
    icon: 'plug',
    form: { kind: 'code', language: 'json', code: JSON.stringify(all, null, 2) },
  };

const hasOnly = (args: JsonObject, ...names: readonly string[]): boolean =>
  Object.keys(args).every((key) => names.includes(key));

const describeProgram = (name: string, args: JsonObject): CallSummary | undefined => {
  const { command, code, language, background = false } = args;
  if (typeof background !== 'boolean') return undefined;
  const where = background ? ' in the background' : '';
  if (name === 'execute_command' && isText(command) && hasOnly(args, 'command', 'background'))
    return {
      title: `Run a command${where}`,
      icon: 'terminal',
      form: { kind: 'code', language: 'bash', code: command, field: 'command' },
    };
  const isCode = isText(code) && isShort(language) && hasOnly(args, 'code', 'language', 'background');
  if (name === 'execute_code' && isCode)
    return {
      title: `Run ${languageNames[language] ?? language} code${where}`,
      icon: 'code',
      form: { kind: 'code', language, code, field: 'code' },
    };
  return undefined;
};

/** A program in the background, by its whole id: two of them may begin alike. */
const describeProcess = (name: string, args: JsonObject): CallSummary | undefined => {
  const title = name === 'process' ? processTitle(args) : undefined;
  const { action, text } = args;
  if (title === undefined) return undefined;
  const written = action === 'input' && isText(text) ? text : undefined;
  return {
    title,
    icon: 'terminal',
    form:
      written === undefined
        ? { kind: 'none' }
        : { kind: 'code', language: 'text', code: written, field: 'text' },
  };
};

const processTitle = (args: JsonObject): string | undefined => {
  const { action, process_id: id } = args;
  const has = (...names: readonly string[]): boolean => hasOnly(args, 'action', ...names);
  if (action === 'list') return has() ? 'List the processes' : undefined;
  if (!isShort(id)) return undefined;
  if (action === 'output')
    return has('process_id', 'offset', 'wait_seconds') ? readTitle(id, args) : undefined;
  if (action === 'input') return has('process_id', 'text', 'eof') ? writeTitle(id, args) : undefined;
  if (action === 'signal') return has('process_id', 'signal') ? signalTitle(id, args) : undefined;
  return action === 'kill' && has('process_id') ? `End process ${id}` : undefined;
};

const readTitle = (id: string, { offset = 0, wait_seconds: wait = 0 }: JsonObject): string | undefined => {
  if (typeof offset !== 'number' || typeof wait !== 'number') return undefined;
  const from = offset === 0 ? '' : ` from byte ${offset} on`;
  return `Read the output of process ${id}${from}${wait === 0 ? '' : `, waiting ${wait} s at most`}`;
};

const signalTitle = (id: string, { signal }: JsonObject): string | undefined =>
  isShort(signal) ? `Send ${signal} to process ${id}` : undefined;

const writeTitle = (id: string, { text = '', eof = false }: JsonObject): string | undefined =>
  isText(text) && typeof eof === 'boolean'
    ? `Write to process ${id}${eof ? ', and close its input' : ''}`
    : undefined;

const describeFile = (name: string, args: JsonObject): CallSummary | undefined => {
  const { path, content } = args;
  if (name === 'write_file' && isShort(path) && isText(content) && hasOnly(args, 'path', 'content'))
    return { title: `Write ${path}`, icon: 'file', form: { kind: 'file', path, content, field: 'content' } };
  if (name === 'read_file' && isShort(path) && hasOnly(args, 'path'))
    return { title: `Read ${path}`, icon: 'file', form: { kind: 'none' } };
  if (name === 'list_files' && hasOnly(args, 'path') && (path === undefined || isShort(path)))
    return {
      title: `List ${isText(path) ? path : 'the workspace'}`,
      icon: 'folder',
      form: { kind: 'none' },
    };
  return undefined;
};

const describeSpawn = (name: string, args: JsonObject): CallSummary | undefined => {
  const { action, prompt } = args;
  if (name !== 'session' || action !== 'spawn' || !isText(prompt) || !hasOnly(args, 'action', 'prompt'))
    return undefined;
  return {
    title: 'Start another agent',
    icon: 'branch',
    form: { kind: 'code', language: 'text', code: prompt, field: 'prompt' },
  };
};

const languageNames: Readonly<Record<string, string>> = { python: 'Python', node: 'Node.js' };

const isText = (value: unknown): value is string => typeof value === 'string';

/** A title is one line that is read at a glance: a longer name is shown with all arguments. */
const titledCharactersMax = 200;
const isShort = (value: unknown): value is string =>
  isText(value) && value.length <= titledCharactersMax && !/[\t\n]/.test(value);
