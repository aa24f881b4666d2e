/**
 * Translates the events of OpenCode's server into facts of one turn: of one of its sessions and the sub-agents that this
 * starts.
 *
 * Its events have no numbers and repeat states; each text, call and output is reported once. Sub-agents speak by their calls:
 * their text is the output of the call that started them.
 */

import type { JsonObject } from '#shared/domain/json.ts';
import { type RuntimeDelta, type RuntimeFact, runtimeModelTriesMax } from '#shared/domain/runtime.ts';
import { firstCharacters } from '#shared/domain/text.ts';
import type { OpencodeEvent, Part } from './opencode-wire.ts';

type Heard = { readonly facts: readonly RuntimeFact[]; readonly deltas: readonly RuntimeDelta[] };

export type OpencodeFacts = {
  readonly read: (event: OpencodeEvent) => Heard;
  /** True when the model was tried in vain too often: the program would go on for ever. */
  readonly isStuck: () => boolean;
};

type Hearing = {
  readonly session: string;
  readonly workspace: string;
  /** The sessions of the turn with their names: its own has none. */
  readonly agents: Map<string, string | undefined>;
  /** Messages of the agent and its sub-agents, with their models. */
  readonly answers: Map<string, string | undefined>;
  /** Texts on their way. */
  readonly pieces: Map<string, { readonly kind: 'text' | 'reasoning'; length: number }>;
  readonly told: Set<string>;
  failure: string | undefined;
  isAborted: boolean;
  isStuck: boolean;
};

type Properties<Type extends OpencodeEvent['type']> = Extract<OpencodeEvent, { type: Type }>['properties'];
type Reader<Type extends OpencodeEvent['type']> = (
  hearing: Hearing,
  properties: Properties<Type>,
) => readonly RuntimeFact[];

export const createOpencodeFacts = (session: string, workspace: string): OpencodeFacts => {
  const hearing: Hearing = {
    ...{ session, workspace, agents: new Map([[session, undefined]]), answers: new Map() },
    ...{ pieces: new Map(), told: new Set(), failure: undefined, isAborted: false, isStuck: false },
  };
  return {
    read: (event) =>
      event.type === 'message.part.delta'
        ? { facts: [], deltas: deltasOf(hearing, event.properties) }
        : { facts: factsOf(hearing, event), deltas: [] },
    isStuck: () => hearing.isStuck,
  };
};

const factsOf = (
  hearing: Hearing,
  event: Exclude<OpencodeEvent, { type: 'message.part.delta' }>,
): readonly RuntimeFact[] => {
  switch (event.type) {
    case 'session.created':
      return subAgentFacts(hearing, event.properties);
    case 'session.status':
      return statusFacts(hearing, event.properties);
    case 'session.error':
      return errorFacts(hearing, event.properties);
    case 'session.idle':
      return event.properties.sessionID === hearing.session ? [endOf(hearing)] : [];
    case 'message.updated':
      return messageFacts(hearing, event.properties);
    case 'message.part.updated':
      return partFacts(hearing, event.properties);
    case 'permission.asked':
      return askedFacts(hearing, event.properties);
    case 'file.edited':
      return [{ type: 'file', path: within(event.properties.file, hearing.workspace) }];
  }
};

/** True the first time. */
const once = ({ told }: Hearing, key: string): boolean => {
  if (told.has(key)) return false;
  told.add(key);
  return true;
};

const about = ({ agents }: Hearing, session: string): { readonly agent?: string } => {
  const agent = agents.get(session);
  return agent === undefined ? {} : { agent };
};

const agentCharactersMax = 256;

const subAgentFacts: Reader<'session.created'> = ({ agents }, { info: { id, parentID, title } }) => {
  if (parentID === undefined || !agents.has(parentID)) return [];
  const agent = firstCharacters(title, agentCharactersMax);
  agents.set(id, agent);
  return [{ type: 'sub-agent', agent }];
};

const statusFacts: Reader<'session.status'> = (hearing, { sessionID, status }) => {
  if (!hearing.agents.has(sessionID) || status.type !== 'retry') return [];
  hearing.isStuck = (status.attempt ?? 0) >= runtimeModelTriesMax;
  const why = status.message ?? 'no reason was given';
  if (hearing.isStuck) hearing.failure ??= `the model could not be reached: ${why}`;
  return [];
};

const errorFacts: Reader<'session.error'> = (hearing, { sessionID, error }) => {
  if (sessionID !== hearing.session || error === undefined) return [];
  if (error.name === 'MessageAbortedError') hearing.isAborted = true;
  else hearing.failure ??= error.data?.message ?? error.name;
  return [];
};

const endOf = ({ failure, isAborted }: Hearing): RuntimeFact =>
  failure === undefined
    ? { type: 'ended', reason: isAborted ? 'aborted' : 'finished' }
    : { type: 'ended', reason: 'failed', message: failure };

const messageFacts: Reader<'message.updated'> = (
  { agents, answers },
  { info: { id, role, modelID, sessionID } },
) => {
  if (role === 'assistant' && agents.has(sessionID)) answers.set(id, modelID);
  return [];
};

const partFacts: Reader<'message.part.updated'> = (hearing, { part }) => {
  if (!hearing.agents.has(part.sessionID)) return [];
  switch (part.type) {
    case 'tool':
      return toolFacts(hearing, part);
    case 'step-finish':
      return stepFacts(hearing, part);
    default:
      return textFacts(hearing, part);
  }
};

const textFacts = (
  hearing: Hearing,
  { id, type, text, sessionID, messageID, time }: Extract<Part, { type: 'text' | 'reasoning' }>,
): readonly RuntimeFact[] => {
  const { session, answers, pieces } = hearing;
  if (sessionID !== session || !answers.has(messageID)) return [];
  if (time?.end === undefined) {
    if (!pieces.has(id)) pieces.set(id, { kind: type, length: text.length });
    return [];
  }
  pieces.delete(id);
  return text !== '' && once(hearing, `text ${id}`) ? [{ type, messageId: id, text }] : [];
};

const toolFacts = (
  hearing: Hearing,
  { sessionID, callID: callId, tool: name, state }: Extract<Part, { type: 'tool' }>,
): readonly RuntimeFact[] => {
  if (state.status === 'pending') return [];
  const key = `${sessionID} ${callId}`;
  const by = about(hearing, sessionID);
  const call = { type: 'call' as const, callId, name, args: state.input, ...by };
  const begun = once(hearing, `call ${key}`) ? [call] : [];
  if (state.status === 'running' || !once(hearing, `output ${key}`)) return begun;
  const { start, end = start } = state.time;
  const [isError, text] = state.status === 'error' ? [true, state.error] : [false, state.output];
  const durationMs = Math.max(0, Math.round(end - start));
  return [...begun, { type: 'output', callId, name, text, isError, durationMs, ...by }];
};

const stepFacts = (
  hearing: Hearing,
  {
    id,
    sessionID,
    messageID,
    tokens: { input, output, reasoning, cache },
  }: Extract<Part, { type: 'step-finish' }>,
): readonly RuntimeFact[] => {
  if (!once(hearing, `step ${id}`)) return [];
  const model = hearing.answers.get(messageID);
  const usage = {
    inputTokens: Math.round(input + cache.read + cache.write),
    outputTokens: Math.round(output + reasoning),
    ...(cache.read > 0 ? { cachedInputTokens: Math.round(cache.read) } : {}),
    ...(cache.write > 0 ? { cacheWriteInputTokens: Math.round(cache.write) } : {}),
  };
  return [{ type: 'step', ...(model === undefined ? {} : { model }), usage, ...about(hearing, sessionID) }];
};

/** Its call is reported first, if the program has not done so yet. */
const askedFacts: Reader<'permission.asked'> = (hearing, asked) => {
  const { id: permission, sessionID, permission: name, tool } = asked;
  if (!hearing.agents.has(sessionID) || !once(hearing, `asked ${permission}`)) return [];
  const by = about(hearing, sessionID);
  const args = askedArguments(asked);
  if (tool === undefined) return [{ type: 'asked', permission, name, args, ...by }];
  const callId = tool.callID;
  const isUnsaid = once(hearing, `call ${sessionID} ${callId}`);
  return [
    ...(isUnsaid ? [{ type: 'call' as const, callId, name, args, ...by }] : []),
    { type: 'asked', permission, callId, name, args, ...by },
  ];
};

/** A person approves what the program says it is about to do: the arguments of its own question, whole. */
const askedArguments = ({ metadata, patterns }: Properties<'permission.asked'>): JsonObject => ({
  ...metadata,
  ...(patterns.length === 0 ? {} : { patterns }),
});

const deltasOf = (
  { pieces }: Hearing,
  { field, partID, delta: text }: Properties<'message.part.delta'>,
): readonly RuntimeDelta[] => {
  const piece = field === 'text' ? pieces.get(partID) : undefined;
  if (piece === undefined) return [];
  const delta = { kind: piece.kind, messageId: partID, offset: piece.length, text };
  piece.length += text.length;
  return [delta];
};

const within = (path: string, workspace: string): string =>
  path.startsWith(`${workspace}/`) ? path.slice(workspace.length + 1) : path;
