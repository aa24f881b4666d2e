/**
 * View of a call that needs approval: the whole call with its digest, without an invisible character.
 *
 * The texts of the call follow a bar, so that none of them can imitate a line of this program. Long lines are broken
 * here, because a terminal would continue them in front of the bar. The arguments can be reconstructed from the view.
 */
import type { ShownCall } from '#sdk/approvals.ts';
import type { SessionGrant } from '#sdk/routes.ts';
import type { EffectFile } from '#shared/domain/effect.ts';
import { effectNotes, missingLines } from '#shared/domain/effect-notes.ts';
import type { Json } from '#shared/domain/json.ts';
import { utf8Bytes } from '#shared/domain/text.ts';
import { visibleLine, visibleText } from '#shared/domain/visible-text.ts';
import { wantedHostName } from '#shared/domain/wanted-host.ts';

const bar = '│ ';
/** The rest of a line that was too long for the terminal. */
const brokenBar = '┆ ';
const columnsMin = 20;
/** For a terminal without a known width. */
const columnsDefault = 80;

/** Without `columns` the output is no terminal, and no line is broken. */
export const callLines = (call: ShownCall, columns?: number): readonly string[] => {
  const fields = Object.entries(call.args);
  const lines = [
    `${visibleLine(call.name)}, call ${visibleLine(call.callId)}, session ${visibleLine(call.sessionId)}`,
    ...(fields.length === 0 ? ['without arguments'] : []),
    ...fields.flatMap(([name, value]) => fieldLines(name, value)),
    `digest ${call.digest}`,
    ...(call.advisory === true ? ['the agent in the sandbox asks: it runs the call itself'] : []),
    ...effectLines(call),
  ];
  return columns === undefined ? lines : lines.flatMap((line) => broken(line, columns));
};

/** The effect of the call, as it was tried. */
const effectLines = ({ effect, effectDigest, effectMissing }: ShownCall): readonly string[] => {
  if (effect === undefined)
    return effectMissing === undefined ? [] : [`not tried: ${visibleLine(effectMissing)}`];
  const { files, filesLeftOut = 0, exitCode, output, hosts, durationMs } = effect;
  const end = exitCode === null ? '' : `, exit code ${exitCode}`;
  return [
    `tried in a fork of the workspace: ${durationMs} ms${end}; nothing is changed yet`,
    ...(files.length + filesLeftOut === 0 ? ['no file changes'] : []),
    ...files.flatMap(fileLines),
    ...(filesLeftOut === 0 ? [] : [leftOutLine(files, filesLeftOut)]),
    ...(hosts.length === 0 ? [] : [`wanted to reach ${wantedNames(hosts)}: refused in the trial`]),
    ...(output === ''
      ? []
      : [
          'output',
          ...visibleText(output)
            .split('\n')
            .map((line) => bar + line),
        ]),
    `effect ${effectDigest}`,
  ];
};

const wantedNames = (hosts: readonly string[]): string =>
  hosts.map((host) => visibleLine(wantedHostName(host))).join(', ');

const leftOutLine = ({ length }: readonly EffectFile[], count: number): string =>
  length === 0
    ? `${counted(count, 'changed file')}, none of them listed`
    : `and ${counted(count, 'other file')}`;

const fileLines = (file: EffectFile): readonly string[] => {
  const { path, change, bytes, diff = '' } = file;
  const missing = missingLines(file);
  return [
    `${change} ${visibleLine(path)} (${counted(bytes, 'byte')})`,
    ...[...effectNotes(file), ...(missing === undefined ? [] : [missing]), ...linesOf(diff)].map(
      (line) => bar + line,
    ),
  ];
};

const linesOf = (diff: string): readonly string[] => (diff === '' ? [] : visibleText(diff).split('\n'));

const fieldLines = (name: string, value: Json): readonly string[] => {
  const isText = typeof value === 'string';
  const written = isText ? value : JSON.stringify(value, null, 2);
  const lines = visibleText(written).split('\n');
  const size = `${counted(utf8Bytes(written), 'byte')}, ${counted(lines.length, 'line')}`;
  return [`${fieldName(name)} (${isText ? 'text' : 'JSON'}: ${size})`, ...lines.map((line) => bar + line)];
};

/** The model chooses the names too. */
const fieldName = (name: string): string =>
  /^[\w.-]{1,64}$/.test(name) ? name : visibleLine(JSON.stringify(name));

const counted = (count: number, thing: string): string => `${count} ${thing}${count === 1 ? '' : 's'}`;

/** A character with its combining marks. */
const drawn = /[^\p{M}]\p{M}*/gsu;
const tabCells = 8;
/** The cells of a character at most: one that is not ASCII may be wide. */
const cells = (character: string): number =>
  character === '\t' ? tabCells : /^[ -~│┆]$/.test(character) ? 1 : 2;

const broken = (line: string, columns: number): readonly string[] => {
  const room = columns === 0 ? columnsDefault : Math.max(columnsMin, columns);
  const parts: string[] = [];
  let part = '';
  let used = 0;
  for (const [character] of line.matchAll(drawn)) {
    const needed = cells(character);
    if (used + needed > room) {
      parts.push(part);
      part = brokenBar;
      used = brokenBar.length;
    }
    part += character;
    used += needed;
  }
  return [...parts, part];
};

const shortCharactersMax = 60;

type NamedArgs = { readonly name: string; readonly args: Readonly<Record<string, unknown>> };

/** One line for a list, shortened; no decision is made from it. */
export const callInShort = ({ name, args }: NamedArgs): string => {
  const [first, ...others] = Object.values(args);
  const words = typeof first === 'string' && others.length === 0 ? first : JSON.stringify(args);
  const line = visibleLine(`${name} ${words.slice(0, shortCharactersMax + 1)}`);
  return line.length > shortCharactersMax ? `${line.slice(0, shortCharactersMax - 1)}…` : line;
};

/** The decider of a call: a person by name, a token or a grant by kind and name, a policy by its mode or its rule. */
export const deciderName = ({ kind, id, name = id }: SessionGrant['by']): string => {
  if (kind === 'policy') return id.startsWith('effect rule ') ? `the ${id}` : `the mode ${id}`;
  return kind === 'person' ? name : `the ${kind} ${name}`;
};
