/**
 * Agents of the Agent Client Protocol as programs that carry turns: `acp-agent` on the user's side, spoken to over its stdin
 * and stdout.
 *
 * Each conversation has an agent of its own, which lives between its turns and is replaced for another model. One that was
 * replaced loads its conversation if it can, and otherwise begins a new one, and reports that. The agent has no other interface
 * to the platform: files and programs are its own, in the sandbox.
 */
import { randomUUID } from 'node:crypto';
import {
  type RuntimePrompt,
  runtimeSilenceSecondsMax,
  runtimeStartSecondsMax,
} from '#shared/domain/runtime.ts';
import type { ProcessControl } from '../../user-side.ts';
import {
  type AgentListener,
  type AgentParts,
  type AgentProgram,
  type AgentTurn,
  agentSearchPath,
} from '../agent-program.ts';
import { createLastWords } from '../last-words.ts';
import { type AcpConnection, createAcpConnection, UnknownMethod } from './acp-connection.ts';
import { type AcpFacts, createAcpFacts } from './acp-facts.ts';
import {
  initialized,
  isAsked,
  modelVariables,
  optionFor,
  type PermissionOption,
  permissionRequest,
  promptEnded,
  protocolVersion,
  sessionMade,
  sessionUpdate,
} from './acp-wire.ts';

type Question = { readonly options: readonly PermissionOption[]; readonly answer: (outcome: object) => void };

/** The turn that the agent works on. */
type Work = {
  readonly prompt: RuntimePrompt;
  readonly listener: AgentListener;
  readonly facts: AcpFacts;
  readonly questions: Map<string, Question>;
  heardAt: number;
};

type Running = {
  readonly model: string;
  readonly connection: AcpConnection;
  readonly control: ProcessControl;
  readonly session: string;
  /** It has heard nothing in this conversation. */
  isNew: boolean;
  /** It does not know what was said to the agent before it. */
  hasForgotten: boolean;
  isOver: boolean;
  work: Work | undefined;
};

const startMsMax = runtimeStartSecondsMax * 1000;
const lookMs = 1000;

export const createAcp = (parts: AgentParts): AgentProgram => {
  const agents = new Map<string, Promise<Running>>();
  const agentFor = async (prompt: RuntimePrompt): Promise<Running> => {
    const { conversation, provider, model } = prompt;
    const before = await agents.get(conversation)?.catch(() => undefined);
    if (before !== undefined && !before.isOver) {
      if (before.model === `${provider}/${model}`) return before;
      before.control.kill('cancelled');
      await before.control.ended.catch(() => undefined);
    }
    const starting = start(parts, prompt, before?.session);
    agents.set(conversation, starting);
    return starting;
  };
  return {
    prompt: async (prompt, listener) => {
      const running = await agentFor(prompt);
      return begin(parts, running, { prompt, listener });
    },
  };
};

const start = async (
  parts: AgentParts,
  { provider, model }: RuntimePrompt,
  known: string | undefined,
): Promise<Running> => {
  const variables = modelVariables(provider, model);
  if (variables === undefined) throw new Error(`an agent cannot reach models of ${provider} from a sandbox`);
  let running: Running | undefined;
  const said = createLastWords();
  let early: Buffer[] | undefined = [];
  let over: string | undefined;
  const control = await parts.userSide.startProcess({
    spec: {
      argv: ['acp-agent'],
      env: { ...variables, PATH: agentSearchPath(parts.workspace) },
      isInputWhole: false,
    },
    input: Buffer.alloc(0),
    onOutput: (stream, chunk) => {
      if (stream === 'stderr') said.hear(stream, chunk);
      else if (early === undefined) connection.take(chunk);
      else early.push(chunk);
    },
  });
  const end = (message: string): void => {
    over ??= message;
    connection.close(message);
    if (running === undefined || running.isOver) return;
    running.isOver = true;
    running.work?.listener.fact({ type: 'ended', reason: 'lost', message });
    running.work = undefined;
  };
  const connection = createAcpConnection({
    write: (line) => control.ask({ type: 'write-input', isLast: false }, line),
    onNotice: (method, params) => {
      if (method === 'session/update') hear(running, params);
    },
    onRequest: async (method, params) => {
      if (method === 'session/request_permission') return { outcome: await ask(running, params) };
      throw new UnknownMethod(`there is no ${method} here`);
    },
    room: async () => running?.work?.listener.room(),
    onBroken: (reason) => {
      end(`the agent is no longer heard: ${reason}`);
      control.kill('cancelled');
    },
  });
  for (const chunk of early) connection.take(chunk);
  early = undefined;
  void control.ended.then(
    ({ exitCode, signal }) => end(`acp-agent ended (${signal ?? exitCode}): ${said.text()}`),
    () => end('acp-agent ended with all programs of the sandbox'),
  );
  try {
    const session = await openSession(connection, parts.workspace, known);
    // Its last words may have been its session: no turn would ever reach it.
    if (over !== undefined) throw new Error(over);
    const isKnown = session === known;
    running = {
      ...{ model: `${provider}/${model}`, connection, control, session },
      ...{ isNew: !isKnown, hasForgotten: known !== undefined && !isKnown, isOver: false, work: undefined },
    };
    return running;
  } catch (cause) {
    control.kill('cancelled');
    const why = cause instanceof Error ? cause.message : String(cause);
    throw new Error(`acp-agent cannot be started in this sandbox: ${why} ${said.text()}`.trim());
  }
};

/** That of the agent before it where it can load one, else a new one. */
const openSession = async (
  connection: AcpConnection,
  cwd: string,
  known: string | undefined,
): Promise<string> => {
  const capabilities = { fs: { readTextFile: false, writeTextFile: false }, terminal: false };
  const clientInfo = { name: 'sallyport', version: '1' };
  const hello = { protocolVersion, clientCapabilities: capabilities, clientInfo };
  const answer = initialized.parse(await connection.request('initialize', hello, startMsMax));
  if (answer.protocolVersion !== protocolVersion)
    throw new Error(`it speaks version ${answer.protocolVersion} of the protocol, not ${protocolVersion}`);
  const place = { cwd, mcpServers: [] };
  if (known !== undefined && answer.agentCapabilities?.loadSession) {
    const loading = connection.request('session/load', { ...place, sessionId: known }, startMsMax);
    const isLoaded = await loading.then(
      () => true,
      () => false,
    );
    if (isLoaded) return known;
  }
  const made = await connection.request('session/new', place, startMsMax);
  return sessionMade.parse(made).sessionId;
};

const hear = (running: Running | undefined, params: unknown): void => {
  const { data } = sessionUpdate.safeParse(params);
  const work = running?.work;
  if (data === undefined || work === undefined || data.sessionId !== running?.session) return;
  work.heardAt = performance.now();
  const { facts, deltas } = work.facts.read(data.update);
  for (const delta of deltas) work.listener.delta(delta);
  for (const fact of facts) work.listener.fact(fact);
};

const cancelled = { outcome: 'cancelled' };
const selected = ({ optionId }: PermissionOption) => ({ outcome: 'selected', optionId });

/** Answered at once where the mode allows it, or by the platform's reply. */
const ask = async (running: Running | undefined, params: unknown): Promise<object> => {
  const { toolCall, options } = permissionRequest.parse(params);
  const work = running?.work;
  if (work === undefined) return cancelled;
  work.heardAt = performance.now();
  const once = optionFor(options, true);
  if (!isAsked(work.prompt.asks, toolCall.kind)) return once === undefined ? cancelled : selected(once);
  const permission = randomUUID();
  const { promise, resolve } = Promise.withResolvers<object>();
  const facts = work.facts.ask(permission, toolCall);
  work.questions.set(permission, { options, answer: resolve });
  for (const fact of facts) work.listener.fact(fact);
  return promise;
};

const takeBack = ({ questions }: Work): void => {
  for (const { answer } of questions.values()) answer(cancelled);
  questions.clear();
};

type Beginning = { readonly prompt: RuntimePrompt; readonly listener: AgentListener };

const begin = ({ workspace }: AgentParts, running: Running, { prompt, listener }: Beginning): AgentTurn => {
  const { connection, session: sessionId } = running;
  const facts = createAcpFacts(workspace);
  const work: Work = { prompt, listener, facts, questions: new Map(), heardAt: performance.now() };
  running.work = work;
  const instructions = running.isNew ? prompt.instructions : undefined;
  if (running.hasForgotten)
    listener.fact({
      type: 'fault',
      message: 'the agent was restarted, and does not know what was said before',
    });
  running.isNew = false;
  running.hasForgotten = false;
  const abort = async (): Promise<void> => {
    await connection.notify('session/cancel', { sessionId });
    takeBack(work);
  };
  const look = setInterval(() => {
    const isAsking = work.questions.size > 0;
    if (isAsking || performance.now() - work.heardAt < runtimeSilenceSecondsMax * 1000) return;
    work.heardAt = performance.now();
    listener.fact({ type: 'fault', message: 'the agent was silent for too long' });
    void abort();
  }, lookMs);
  const blocks = [instructions, prompt.text].filter((text) => text !== undefined && text !== '');
  const asked = { sessionId, prompt: blocks.map((text) => ({ type: 'text', text })) };
  void connection
    .request('session/prompt', asked)
    .then(
      (answer) => endOf(promptEnded.parse(answer).stopReason),
      (cause: unknown) => ({
        reason: 'failed' as const,
        message: cause instanceof Error ? cause.message : '',
      }),
    )
    .then((ended) => {
      clearInterval(look);
      takeBack(work);
      if (running.work !== work) return;
      running.work = undefined;
      for (const fact of facts.rest()) listener.fact(fact);
      listener.fact({ type: 'ended', ...ended });
    });
  return {
    abort,
    reply: async ({ permission, approved }) => {
      const question = work.questions.get(permission);
      work.questions.delete(permission);
      if (question === undefined) return;
      const option = optionFor(question.options, approved);
      question.answer(option === undefined ? cancelled : selected(option));
    },
  };
};

const endOf = (
  stopReason: string,
): { readonly reason: 'finished' | 'aborted' | 'failed'; readonly message?: string } => {
  if (stopReason === 'cancelled') return { reason: 'aborted' };
  if (stopReason === 'end_turn') return { reason: 'finished' };
  return { reason: 'failed', message: `it stopped: ${stopReason}` };
};
