/**
 * Summary of a tool call for the person who decides on it: a title, and the arguments in a readable form. Pure.
 * An argument that a form would not show makes all of them visible.
 */
import type { ToolContent } from '#shared/domain/event-log.ts';
import { exitCodeIn } from '#shared/domain/execution-failure.ts';
import type { JsonObject } from '#shared/domain/json.ts';
import { visibleText } from '#shared/domain/visible-text.ts';
import type { IconName } from '../components/icon-paths.ts';

export type CallForm =
  | { readonly kind: 'none' }
  | {
      readonly kind: 'code';
      readonly language: string;
      readonly code: string;
      /** The argument that the code is; absent: it is all of them. */
      readonly field?: string;
    }
  | { readonly kind: 'file'; readonly path: string; readonly content: string; readonly field: string };

export type CallSummary = { readonly title: string; readonly icon: IconName; readonly form: CallForm };

export const summarizeCall = (name: string, args: JsonObject): CallSummary => {
  const { timeout, ...acts } = args;
  const isTimed = typeof timeout === 'number';
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
  describeSpawn(name, args) ?? {
    title: `Call ${name}`,
    icon: 'plug',
    form: { kind: 'code', language: 'json', code: JSON.stringify(all, null, 2) },
  };

const hasOnly = (args: JsonObject, ...names: readonly string[]): boolean =>
  Object.keys(args).every((key) => names.includes(key));

const describeProgram = (name: string, args: JsonObject): CallSummary | undefined => {
  const { command, code, language } = args;
  if (name === 'execute_command' && isText(command) && hasOnly(args, 'command'))
    return {
      title: 'Run a command',
      icon: 'terminal',
      form: { kind: 'code', language: 'bash', code: command, field: 'command' },
    };
  if (name === 'execute_code' && isText(code) && isShort(language) && hasOnly(args, 'code', 'language'))
    return {
      title: `Run ${languageNames[language] ?? language} code`,
      icon: 'code',
      form: { kind: 'code', language, code, field: 'code' },
    };
  return undefined;
};

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
