/**
 * Requests about one turn to the program of a sandbox that carries it: the prompt, what it has said since, answers, the end.
 *
 * Answers are user code's, and decoded here. Each request may be repeated.
 */
import { type RuntimePage, runtimePage } from '../../../contracts/agent-runtime.ts';
import { decode } from '../../../contracts/decode.ts';
import { relayWantedField } from '../../../contracts/relay/wanted.ts';
import type { SessionId } from '../../../domain/ids.ts';
import { type RuntimePrompt, type RuntimeReply, runtimeWaitMs } from '../../../domain/runtime.ts';
import type { LiveSandbox } from '../../../domain/sandbox.ts';
import { carriedTurnOf } from '../../../domain/turn/pending-work.ts';
import { AppError } from '../../../errors.ts';
import type { Deps } from '../../deps.ts';
import { liveSandboxOf } from '../../sandbox/sandbox-processes.ts';
import { refusalOf } from '../../sandbox/sandbox-server-error.ts';

export type CarriedTurn = {
  readonly sandbox: LiveSandbox;
  /** Its name in that sandbox. */
  readonly turn: string;
  readonly signal: AbortSignal;
};

type Link = Deps<'link'>;

export const promptRuntime = async (ports: Link, turn: CarriedTurn, prompt: RuntimePrompt): Promise<void> => {
  await ask(ports, turn, { method: 'PUT', path: '', body: prompt });
};

export const replyToRuntime = async (
  ports: Link,
  turn: CarriedTurn,
  replies: readonly RuntimeReply[],
): Promise<void> => {
  await ask(ports, turn, { method: 'POST', path: '/replies', body: { replies } });
};

/** `isRelayWanted`: it waits for its model, and nothing carries the call. */
export type HeardPage = RuntimePage & { readonly isRelayWanted: boolean };

/** Waits for the first fact after that number, for a while. */
export const hearRuntime = async (ports: Link, turn: CarriedTurn, after: number): Promise<HeardPage> => {
  const answer = await ask(ports, turn, {
    method: 'GET',
    path: `/events?after=${after}&wait=${runtimeWaitMs}`,
  });
  const body: unknown = await answer.json();
  const page = decode(runtimePage, body);
  if (!page.ok) throw new AppError('tool_failed', `the agent's sandbox sent no events: ${page.problem}`);
  const isRelayWanted = typeof body === 'object' && body !== null && relayWantedField in body;
  return { ...page.value, isRelayWanted };
};

/** A sandbox that cannot be reached has nothing to stop. */
export const abortRuntime = async ({ link }: Link, sandbox: LiveSandbox, turn: string): Promise<void> => {
  const path = `/agent/turns/${encodeURIComponent(turn)}/abort`;
  await link.fetch(sandbox, { method: 'POST', path }).then(
    (answer) => answer.body?.cancel(),
    () => undefined,
  );
};

type Question = { readonly method: string; readonly path: string; readonly body?: object };

const ask = async (
  { link }: Link,
  { sandbox, turn, signal }: CarriedTurn,
  { method, path, body }: Question,
): Promise<Response> => {
  const answer = await link.fetch(sandbox, {
    method,
    path: `/agent/turns/${encodeURIComponent(turn)}${path}`,
    headers: { 'content-type': 'application/json' },
    ...(body === undefined ? {} : { body: JSON.stringify(body) }),
    signal,
  });
  if (!answer.ok) throw await refusalOf(answer, () => ({}));
  return answer;
};

/**
 * Kills the work that goes on in a sandbox for a turn that is over: its detached calls, and the program that carried it (RT5). Its end
 * is not waited for.
 */
export const killWork = async (
  ports: Deps<'sessions' | 'workspaces' | 'tools' | 'link'>,
  id: SessionId,
  keys: readonly string[],
): Promise<void> => {
  const session = await ports.sessions.get(id);
  const workspace = session && (await ports.workspaces.get(session.workspace));
  const sandbox: LiveSandbox | undefined = workspace && liveSandboxOf(workspace);
  if (sandbox === undefined) return;
  const kill = (key: string): Promise<void> => {
    const turn = carriedTurnOf(key);
    return turn === undefined ? ports.tools.cancel(sandbox, key) : abortRuntime(ports, sandbox, turn);
  };
  await Promise.all(keys.map(kill));
};
