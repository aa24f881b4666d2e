/**
 * The demo provider's script: the calls that a message asks for, read line by line. Pure and deterministic.
 *
 * `$ command`, `read <path>`, `write <path> <text>`, `list [path]` and `call <tool> [{…}]` for a tool that is
 * offered, `think <text>`, at a line's start, and fenced blocks of python or node. Lines inside a block, in whatever language,
 * are never commands; an unclosed block ends with the message, as in Markdown. Every other line asks for nothing.
 */
import type { JsonObject } from '#shared/domain/json.ts';

export type ScriptedCall = { readonly name: string; readonly args: JsonObject };

type Block = { readonly fence: string; readonly language: string; readonly lines: string[] };

export const scriptedCalls = (
  message: string,
  offered: ReadonlySet<string> = new Set(),
): readonly ScriptedCall[] => {
  const calls: ScriptedCall[] = [];
  let block: Block | undefined;
  for (const line of message.split(/\r?\n/)) {
    if (block === undefined) {
      block = openedBlock(line);
      if (block === undefined) calls.push(...lineCall(line), ...namedCall(line, offered));
    } else if (line.trimEnd() === block.fence) {
      calls.push(...blockCall(block));
      block = undefined;
    } else block.lines.push(line);
  }
  return block === undefined ? calls : [...calls, ...blockCall(block)];
};

const openedBlock = (line: string): Block | undefined => {
  const [, fence, language] = /^(`{3,})([^`]*)$/.exec(line) ?? [];
  return fence === undefined ? undefined : { fence, language: (language ?? '').trim(), lines: [] };
};

const blockCall = ({ language, lines }: Block): readonly ScriptedCall[] =>
  language === 'python' || language === 'node'
    ? [{ name: 'execute_code', args: { code: lines.join('\n'), language } }]
    : [];

const lineCall = (line: string): readonly ScriptedCall[] => {
  if (line.startsWith('$ ')) return [{ name: 'execute_command', args: { command: line.slice(2) } }];
  const [, path, content] = /^write (\S+) (.*)$/.exec(line) ?? [];
  if (path !== undefined && content !== undefined) return [{ name: 'write_file', args: { path, content } }];
  const read = /^read (\S+)\s*$/.exec(line)?.[1];
  if (read !== undefined) return [{ name: 'read_file', args: { path: read } }];
  const list = /^list(?: (\S+))?\s*$/.exec(line);
  if (list === null) return [];
  return [{ name: 'list_files', args: list[1] === undefined ? {} : { path: list[1] } }];
};

/** Thoughts that the message gives its reader, line by line: they are no calls. */
export const scriptedThoughts = (message: string): readonly string[] =>
  message.split(/\r?\n/).flatMap((line) => /^think (.*\S)\s*$/.exec(line)?.[1] ?? []);

/** Any tool by its name; arguments that are no JSON object make the line an ordinary one. */
const namedCall = (line: string, offered: ReadonlySet<string>): readonly ScriptedCall[] => {
  const [, name = '', json = '{}'] = /^call (\S+)(?: +(\{.*\}))?\s*$/.exec(line) ?? [];
  if (!offered.has(name)) return [];
  try {
    return [{ name, args: JSON.parse(json) as JsonObject }];
  } catch {
    return [];
  }
};

/** A call may be long; its description is one short line. */
const describedCharactersMax = 100;

/** A call in a few words, for the text of an answer. */
export const describeCall = ({ name, args }: ScriptedCall): string => {
  const { command, path, language } = args;
  if (typeof command === 'string') return `${name} \`$ ${shortened(command)}\``;
  if (typeof path === 'string') return `${name} \`${shortened(path)}\``;
  return typeof language === 'string' ? `${name} (${language})` : name;
};

const shortened = (text: string): string => {
  const characters = [...text.slice(0, 2 * describedCharactersMax + 2)];
  if (characters.length <= describedCharactersMax) return text;
  return `${characters.slice(0, describedCharactersMax).join('')}…`;
};
