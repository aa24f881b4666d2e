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
import { makeStripper, stripControls } from '../runtime/control-characters.ts';
import { makeAnswers } from './repeated-output.ts';
import { nextPart, type Streamed } from './streamed-text.ts';

type Style = (text: string) => string;
export type TurnView = { readonly take: (frame: Frame) => string };

type Thought = { readonly messageId: string; readonly text: string; readonly offset?: number };
const outputCharactersMax = 20_000;

type ViewOptions = {
  readonly dim: Style;
  /** An output that an answer repeats is not printed again. */
  readonly pointsAtOutput: boolean;
};

export const makeTurnView = ({ dim, pointsAtOutput }: ViewOptions): TurnView => {
  const outputs = new Map<string, Streamed>();
  const thoughts = new Map<string, Streamed>();
  /** Outputs of calls that were printed whole. */
  const printed = new Set<string>();
  const answers = makeAnswers((output) => pointsAtOutput && printed.has(output));
  let isLineOpen = false;
  let isThinking = false;

  const emit = (words: string): string => {
    if (words !== '') isLineOpen = !words.endsWith('\n');
    return words;
  };
  const aside = (line: string): string => {
    const lead = isLineOpen ? '\n' : '';
    return emit(`${lead}${line}\n`);
  };
  const endLine = (): string => (isLineOpen ? emit('\n') : '');

  /** Thoughts are dim, and what follows them begins a line. */
  const thought = ({ messageId, text, offset = 0 }: Thought): string => {
    const words = nextPart(thoughts, messageId, { offset, words: text });
    if (words === '') return '';
    const lead = isThinking ? '' : endLine();
    isThinking = true;
    isLineOpen = !words.endsWith('\n');
    return lead + dim(words);
  };

  const message = ({ data }: FrameOf<'message'>): string => {
    if (data.role !== 'assistant') return '';
    const shown = emit(answers.whole(data));
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
    if (wasLive || whole.length <= outputCharactersMax) printed.add(whole);
    if (wasLive) return exit === undefined ? endLine() : aside(dim(exitLine(exit)));
    if (whole === '') return aside(dim('(no output)'));
    const cut = whole.length > outputCharactersMax ? `${whole.slice(0, outputCharactersMax)}\n(cut)` : whole;
    return aside(cut);
  };

  const take = (frame: Frame): string => {
    if (frame.type === 'reasoning' || frame.type === 'reasoning_delta') return thought(frame.data);
    const lead = isThinking ? endLine() : '';
    isThinking = false;
    return lead + other(frame);
  };

  const other = (frame: Frame): string => {
    switch (frame.type) {
      case 'delta':
        return emit(answers.part(frame.data));
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
        return frame.data.stopReason === 'end_turn' ? endLine() : aside(dim(endingLine(frame.data)));
      default:
        return '';
    }
  };

  return { take };
};

const endingLine = ({ stopReason }: FrameOf<'completion'>['data']): string =>
  stopReason === 'budget_exceeded'
    ? `(${stopReason}: \`sallyport sessions tree <id>\` shows what was spent, \`sallyport sessions update <id> --max-cost <usd>\` changes the money)`
    : `(${stopReason})`;

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
  runtime_restarted: 'the agent continues in a new sandbox with the last saved files',
};

const noticeOf = (data: FrameOf<'system'>['data'], emit: (line: string) => string): string => {
  const { kind, reason } = data;
  if (kind === 'model_retry') return emit(stripControls(retryLine(data)));
  const notice = notices[kind];
  const why = typeof reason === 'string' ? `: ${reason}` : '';
  return notice === undefined ? '' : emit(stripControls(`(${notice}${why})`));
};

const retryLine = ({ message, provider, retryAt, attempt }: FrameOf<'system'>['data']): string =>
  `(${provider}: ${message}; try ${Number(attempt) + 1} at ${retryAt})`;

/** A command as it is typed, an action by its name, other arguments as JSON; complete, and without invisible characters. */
export const describeArgs = (args: unknown): string => {
  const fields = Object.entries((args ?? {}) as Readonly<Record<string, unknown>>);
  const [first, ...others] = fields;
  if (first !== undefined && typeof first[1] === 'string') {
    if (others.every(([, value]) => isNumberOrFlag(value)))
      return withLines(first[0], first[1]) + inBrackets(others);
    if (first[0] === 'action' && others.every(([, value]) => isNumberOrFlag(value) || isWord(value)))
      return visibleText(first[1]) + inBrackets(others);
  }
  return visibleText(JSON.stringify(args ?? {}));
};

const withLines = (name: string, text: string): string => {
  const lines = visibleText(text);
  return lines.includes('\n') ? `${name}:\n${lines.replaceAll(/^/gm, '  ')}` : lines;
};

const isNumberOrFlag = (value: unknown): boolean => typeof value === 'number' || typeof value === 'boolean';
const isWord = (value: unknown): boolean => typeof value === 'string' && /^[\w.:-]{1,64}$/.test(value);

const inBrackets = (fields: readonly (readonly [string, unknown])[]): string =>
  fields.length === 0
    ? ''
    : ` (${fields.map(([name, value]) => visibleText(`${name} ${value}`)).join(', ')})`;
