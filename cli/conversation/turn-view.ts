/**
 * What a person reads of a session's frames: text as it comes, tool calls with their live output, how it ended.
 *
 * Pure but for its memory of what was shown: a frame goes in, text to print comes out. Everything of a model or
 * a program is stripped of terminal controls; what a call wants to do is shown whole, with controls visible.
 */
import { exitCodeIn, exitLine } from '#shared/domain/exit-code.ts';
import { visibleText } from '#shared/domain/visible-text.ts';
import { type Decider, deciderName } from '../approval/decider.ts';
import { makeStripper, type Stripper, stripControls } from '../control-characters.ts';
import type { Frame } from './event-order.ts';

type Style = (text: string) => string;
export type TurnView = {
  readonly take: (frame: Frame) => string;
  /** A line of our own, on a line of its own. */
  readonly aside: (text: string) => string;
};

type Streamed = { readonly shown: number; readonly strip: Stripper };
const outputCharactersMax = 20_000;
const text = (value: unknown): string => (typeof value === 'string' ? value : '');

export const makeTurnView = ({ dim }: { readonly dim: Style }): TurnView => {
  const messages = new Map<string, Streamed>();
  const outputs = new Map<string, Streamed>();
  let isLineOpen = false;

  const emit = (words: string): string => {
    if (words !== '') isLineOpen = !words.endsWith('\n');
    return words;
  };
  const aside = (line: string): string => {
    const lead = isLineOpen ? '\n' : '';
    return emit(`${lead}${line}\n`);
  };
  const endLine = (): string => (isLineOpen ? emit('\n') : '');
  /** The part of a piece that follows what was shown; a piece after a gap waits for the whole. */
  const next = (
    known: Map<string, Streamed>,
    key: string,
    piece: { offset: number; words: string },
  ): string => {
    const { shown, strip } = known.get(key) ?? { shown: 0, strip: makeStripper() };
    const end = piece.offset + piece.words.length;
    if (piece.offset > shown || end <= shown) return '';
    known.set(key, { shown: end, strip });
    return strip(piece.words.slice(shown - piece.offset));
  };

  const delta = ({ data }: Frame): string =>
    emit(
      next(messages, text(data['messageId']), { offset: Number(data['offset']), words: text(data['text']) }),
    );

  const message = ({ data }: Frame): string => {
    if (data['role'] !== 'assistant') return '';
    const rest = next(messages, text(data['messageId']), { offset: 0, words: text(data['text']) });
    const shown = emit(rest);
    return isLineOpen ? shown + emit('\n') : shown;
  };

  const call = ({ data }: Frame): string =>
    aside(dim(`> ${stripControls(text(data['name']))} ${describeArgs(data['args'])}`));

  const progress = ({ data }: Frame): string => {
    const key = `${text(data['callId'])} ${text(data['stream'])}`;
    const words = text(data['text']);
    const known = outputs.get(key) ?? { shown: 0, strip: makeStripper() };
    outputs.set(key, { ...known, shown: known.shown + words.length });
    return emit(known.strip(words));
  };

  /** What was shown live is not repeated; a result says more than output only in its last line. */
  const output = ({ data }: Frame): string => {
    const whole = stripControls(contentText(data['content'])).trimEnd();
    const wasLive = ['stdout', 'stderr'].some((stream) => outputs.has(`${text(data['callId'])} ${stream}`));
    const exit = exitCodeIn(whole);
    if (wasLive) return exit === undefined ? endLine() : aside(dim(exitLine(exit)));
    if (whole === '') return aside(dim('(no output)'));
    const cut = whole.length > outputCharactersMax ? `${whole.slice(0, outputCharactersMax)}\n(cut)` : whole;
    return aside(cut);
  };

  const decided = ({ data }: Frame): string => aside(dim(stripControls(decisionLine(data))));

  const tellers: Readonly<Record<string, (frame: Frame) => string>> = {
    delta,
    message,
    'tool:call': call,
    'tool:progress': progress,
    'tool:output': output,
    'tool:decided': decided,
    'agent:error': ({ data }) =>
      aside(`! ${stripControls(`${text(data['message'])} (${text(data['code'])})`)}`),
    system: ({ data }) => noticeOf(data, (line) => aside(dim(line))),
    completion: ({ data }) =>
      data['stopReason'] === 'end_turn' ? endLine() : aside(dim(`(${text(data['stopReason'])})`)),
  };

  return { take: (frame) => tellers[frame.type]?.(frame) ?? '', aside };
};

const contentText = (content: unknown): string =>
  Array.isArray(content) ? content.map((block: { text?: unknown }) => text(block.text)).join('\n') : '';

const decisionLine = ({ name, approved, by, editedDigest, reason }: Frame['data']): string => {
  const verb =
    approved === true ? (editedDigest === undefined ? 'approved' : 'changed and approved') : 'rejected';
  const why = text(reason) === '' ? '' : `: ${text(reason)}`;
  return `${text(name)} ${verb} by ${deciderName((by ?? {}) as Decider)}${why}`;
};

const notices: Readonly<Record<string, string>> = {
  sandbox_stopped: 'the sandbox stopped',
  workspace_not_saved: 'the workspace was not saved',
};

const noticeOf = (data: Frame['data'], say: (line: string) => string): string => {
  const notice = notices[text(data['kind'])];
  return notice === undefined ? '' : say(stripControls(`(${notice}: ${text(data['reason'])})`));
};

/** A command as it would be typed, anything else as JSON; nothing is left out and nothing is invisible. */
export const describeArgs = (args: unknown): string => {
  const fields = Object.entries((args ?? {}) as Readonly<Record<string, unknown>>);
  const [only] = fields;
  if (fields.length === 1 && only !== undefined && typeof only[1] === 'string') {
    const lines = visibleText(only[1]);
    return lines.includes('\n') ? `${only[0]}:\n${lines.replaceAll(/^/gm, '  ')}` : lines;
  }
  return visibleText(JSON.stringify(args ?? {}));
};
