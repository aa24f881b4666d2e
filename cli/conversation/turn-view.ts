/**
 * The view of a session's frames on a terminal: streamed text, tool calls with their live output, and the end of a turn.
 *
 * A frame goes in and text to print comes out; the only state is what was shown. Text of a model or a program loses its
 * terminal controls; the arguments of a call are shown whole, with visible controls.
 */
import type { Frame, FrameOf } from '#sdk/frames.ts';
import { exitCodeIn, exitLine } from '#shared/domain/execution-failure.ts';
import { visibleText } from '#shared/domain/visible-text.ts';
import { deciderName } from '../approval/call-view.ts';
import { makeStripper, type Stripper, stripControls } from '../runtime/control-characters.ts';

type Style = (text: string) => string;
export type TurnView = { readonly take: (frame: Frame) => string };

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
  /** The part of a piece after the shown text; a piece after a gap is left to the complete message. */
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

  /** Live output is not repeated: of its result only the exit code is new. */
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
        return emit(
          next(messages, frame.data.messageId, { offset: frame.data.offset, words: frame.data.text }),
        );
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

  return { take };
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

/** A command as it is typed, other arguments as JSON; complete, and without invisible characters. */
export const describeArgs = (args: unknown): string => {
  const fields = Object.entries((args ?? {}) as Readonly<Record<string, unknown>>);
  const [only] = fields;
  if (fields.length === 1 && only !== undefined && typeof only[1] === 'string') {
    const lines = visibleText(only[1]);
    return lines.includes('\n') ? `${only[0]}:\n${lines.replaceAll(/^/gm, '  ')}` : lines;
  }
  return visibleText(JSON.stringify(args ?? {}));
};
