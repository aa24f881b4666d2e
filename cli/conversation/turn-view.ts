/**
 * The view of a session's frames on a terminal: text as it comes, tool calls with their live output, how it ended.
 *
 * Pure but for its memory of what was shown: a frame goes in, text to print comes out. Everything of a model or
 * a program is stripped of terminal controls; what a call wants to do is shown whole, with controls visible.
 */
import type { Frame, FrameOf } from '#sdk/frames.ts';
import { exitCodeIn, exitLine } from '#shared/domain/execution-failure.ts';
import { visibleText } from '#shared/domain/visible-text.ts';
import { deciderName } from '../approval/decider.ts';
import { makeStripper, type Stripper, stripControls } from '../control-characters.ts';

type Style = (text: string) => string;
export type TurnView = {
  readonly take: (frame: Frame) => string;
  /** A line of our own, on a line of its own. */
  readonly aside: (text: string) => string;
};

type Streamed = { readonly shown: number; readonly strip: Stripper };
const outputCharactersMax = 20_000;

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

  const delta = ({ data }: FrameOf<'delta'>): string =>
    emit(next(messages, data.messageId, { offset: data.offset, words: data.text }));

  const message = ({ data }: FrameOf<'message'>): string => {
    if (data.role !== 'assistant') return '';
    const shown = emit(next(messages, data.messageId, { offset: 0, words: data.text }));
    return isLineOpen ? shown + emit('\n') : shown;
  };

  const progress = ({ data }: FrameOf<'tool:progress'>): string => {
    const key = `${data.callId} ${data.stream}`;
    const known = outputs.get(key) ?? { shown: 0, strip: makeStripper() };
    outputs.set(key, { ...known, shown: known.shown + data.text.length });
    return emit(known.strip(data.text));
  };

  /** Output that was shown live is not repeated; a result says more than output only in its last line. */
  const output = ({ data }: FrameOf<'tool:output'>): string => {
    const whole = stripControls(contentText(data.content)).trimEnd();
    const wasLive = ['stdout', 'stderr'].some((stream) => outputs.has(`${data.callId} ${stream}`));
    const exit = exitCodeIn(whole);
    if (wasLive) return exit === undefined ? endLine() : aside(dim(exitLine(exit)));
    if (whole === '') return aside(dim('(no output)'));
    const cut = whole.length > outputCharactersMax ? `${whole.slice(0, outputCharactersMax)}\n(cut)` : whole;
    return aside(cut);
  };

  const take = (frame: Frame): string => {
    switch (frame.type) {
      case 'delta':
        return delta(frame);
      case 'message':
        return message(frame);
      case 'tool:call':
        return aside(dim(`> ${stripControls(frame.data.name)} ${describeArgs(frame.data.args)}`));
      case 'tool:progress':
        return progress(frame);
      case 'tool:output':
        return output(frame);
      case 'tool:decided':
        return aside(dim(stripControls(decisionLine(frame.data))));
      case 'agent:error':
        return aside(`! ${stripControls(`${frame.data.message} (${frame.data.code})`)}`);
      case 'system':
        return noticeOf(frame.data, (line) => aside(dim(line)));
      case 'completion':
        return frame.data.stopReason === 'end_turn' ? endLine() : aside(dim(`(${frame.data.stopReason})`));
      default:
        return '';
    }
  };

  return { take, aside };
};

const contentText = (content: FrameOf<'tool:output'>['data']['content']): string =>
  content.map(({ text }) => (typeof text === 'string' ? text : '')).join('\n');

const decisionLine = ({
  name,
  approved,
  by,
  editedDigest,
  reason = '',
}: FrameOf<'tool:decided'>['data']): string => {
  const edited = editedDigest === undefined ? 'approved' : 'changed and approved';
  const why = reason === '' ? '' : `: ${reason}`;
  return `${name} ${approved ? edited : 'rejected'} by ${deciderName(by)}${why}`;
};

const notices: Readonly<Record<string, string>> = {
  sandbox_stopped: 'the sandbox stopped',
  workspace_not_saved: 'the workspace was not saved',
};

const noticeOf = ({ kind, reason }: FrameOf<'system'>['data'], emit: (line: string) => string): string => {
  const notice = notices[kind];
  const why = typeof reason === 'string' ? reason : '';
  return notice === undefined ? '' : emit(stripControls(`(${notice}: ${why})`));
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
