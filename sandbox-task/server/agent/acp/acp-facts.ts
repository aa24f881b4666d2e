/**
 * Translates the updates of an ACP session into facts of one turn.
 *
 * Text comes in pieces without an end: it is whole when something else comes. A call is told when it runs, and its output when it is over. The
 * protocol does not say what a model was asked for: each answer of the agent, up to the calls that it makes, counts as one step without
 * usage, which the model broker counts. An update by which open calls would hold too much is not taken: it throws.
 */
import { randomUUID } from 'node:crypto';
import type { JsonObject } from '#shared/domain/json.ts';
import { type RuntimeDelta, type RuntimeFact, runtimeTextBytesMax } from '#shared/domain/runtime.ts';
import type { CalledTool, SessionUpdate } from './acp-wire.ts';

type Heard = { readonly facts: readonly RuntimeFact[]; readonly deltas: readonly RuntimeDelta[] };

export type AcpFacts = {
  readonly read: (update: SessionUpdate) => Heard;
  /** The question of a call, as it is known by now, and what came before it. */
  readonly ask: (permission: string, call: CalledTool) => readonly RuntimeFact[];
  /** The rest that is not told yet, at the end of the turn. */
  readonly rest: () => readonly RuntimeFact[];
};

type Piece = {
  readonly kind: 'text' | 'reasoning';
  readonly id: string;
  readonly of: string | undefined;
  text: string;
};
type Call = {
  tool: CalledTool;
  /** The length of each field of the tool. */
  lengths: Readonly<Record<string, number>>;
  readonly since: number;
  isTold: boolean;
  isOver: boolean;
};

/** Of all calls that are not over. */
const openCharactersMax = 8 * 1_048_576;
/** A call is more than its fields. */
const callCharactersMin = 1000;

export const createAcpFacts = (workspace: string): AcpFacts => {
  const calls = new Map<string, Call>();
  let piece: Piece | undefined;
  let openCharacters = 0;
  /** An answer of the model has begun. */
  let isAnswering = false;

  const flush = (): readonly RuntimeFact[] => {
    const whole = piece;
    piece = undefined;
    return whole === undefined || whole.text === ''
      ? []
      : [{ type: whole.kind, messageId: whole.id, text: whole.text }];
  };
  const endStep = (): readonly RuntimeFact[] => {
    if (!isAnswering) return [];
    isAnswering = false;
    return [{ type: 'step', usage: { inputTokens: 0, outputTokens: 0 } }];
  };
  const hear = (kind: Piece['kind'], text: string, of: string | undefined): Heard => {
    isAnswering = true;
    const isSame = piece?.kind === kind && piece.of === of && piece.text.length < runtimeTextBytesMax;
    const facts = isSame ? [] : flush();
    piece ??= { kind, id: randomUUID(), of, text: '' };
    const delta = { kind, messageId: piece.id, offset: piece.text.length, text };
    piece.text += text;
    return { facts, deltas: [delta] };
  };
  const note = (tool: CalledTool): Call => {
    const known = calls.get(tool.toolCallId);
    if (known === undefined) isAnswering = true;
    const call = known ?? { tool, lengths: {}, since: performance.now(), isTold: false, isOver: false };
    if (call.isOver) return call;
    const said = given(tool);
    const lengths = { ...call.lengths, ...lengthsOf(said) };
    const all = openCharacters - sumOf(call.lengths) + sumOf(lengths);
    if (all > openCharactersMax) throw new Error('it has more calls open than can be heard');
    openCharacters = all;
    call.tool = { ...call.tool, ...said };
    call.lengths = lengths;
    calls.set(tool.toolCallId, call);
    return call;
  };
  const close = (call: Call): void => {
    call.isOver = true;
    openCharacters -= sumOf(call.lengths);
    call.lengths = {};
    const { toolCallId, name, kind } = call.tool;
    call.tool = { toolCallId, name, kind };
  };
  const tell = (call: Call): readonly RuntimeFact[] => {
    if (call.isTold) return [];
    call.isTold = true;
    return [
      { type: 'call', callId: call.tool.toolCallId, name: nameOf(call.tool), args: argumentsOf(call.tool) },
    ];
  };
  const progress = (call: Call): readonly RuntimeFact[] => {
    const { status } = call.tool;
    if (status === undefined || status === null || status === 'pending' || call.isOver) return [];
    const begun = tell(call);
    if (status === 'in_progress') return begun;
    const end = [outputOf(call, status === 'failed'), ...filesOf(call.tool, workspace), ...endStep()];
    close(call);
    return [...begun, ...end];
  };
  return {
    read: (update) => {
      switch (update.sessionUpdate) {
        case 'agent_message_chunk':
        case 'agent_thought_chunk': {
          const kind = update.sessionUpdate === 'agent_message_chunk' ? 'text' : 'reasoning';
          return hear(kind, update.content.text, update.messageId ?? undefined);
        }
        case 'tool_call':
        case 'tool_call_update':
          return { facts: [...flush(), ...progress(note(update))], deltas: [] };
      }
    },
    ask: (permission, asked) => {
      const tool = { ...note(asked).tool, ...given(asked) };
      return [...flush(), { type: 'asked', permission, name: nameOf(tool), args: argumentsOf(tool) }];
    },
    rest: () => [...flush(), ...endStep()],
  };
};

/** A later update says only what has changed. */
const given = (tool: CalledTool): Partial<CalledTool> =>
  Object.fromEntries(Object.entries(tool).filter(([, value]) => value !== undefined && value !== null));

const lengthsOf = (said: Partial<CalledTool>): Readonly<Record<string, number>> => ({
  call: callCharactersMin,
  ...Object.fromEntries(Object.entries(said).map(([field, value]) => [field, JSON.stringify(value).length])),
});

const sumOf = (lengths: Readonly<Record<string, number>>): number =>
  Object.values(lengths).reduce((sum, length) => sum + length, 0);

/** Grants and logs need a name that does not change with each call, as its title does. */
const nameOf = ({ name, kind }: CalledTool): string => name ?? kind ?? 'other';

const argumentsOf = ({ rawInput, title }: CalledTool): JsonObject => ({
  ...rawInput,
  ...(title === undefined || title === null ? {} : { title }),
});

const outputOf = ({ tool, since }: Call, isError: boolean): RuntimeFact => {
  const said = (tool.content ?? []).flatMap((part) => ('content' in part ? [part.content.text] : []));
  const raw = tool.rawOutput === undefined || tool.rawOutput === null ? '' : JSON.stringify(tool.rawOutput);
  return {
    type: 'output',
    callId: tool.toolCallId,
    name: nameOf(tool),
    text: said.length > 0 ? said.join('\n') : raw,
    isError,
    durationMs: Math.max(0, Math.round(performance.now() - since)),
  };
};

const filesOf = ({ content }: CalledTool, workspace: string): readonly RuntimeFact[] =>
  (content ?? []).flatMap((part) =>
    'path' in part ? [{ type: 'file' as const, path: within(part.path, workspace) }] : [],
  );

const within = (path: string, workspace: string): string =>
  path.startsWith(`${workspace}/`) ? path.slice(workspace.length + 1) : path;
