/**
 * OpenCode as a program that carries turns: `opencode serve` on the user's side, spoken to over HTTP on the sandbox's loopback.
 *
 * It is started once and serves all conversations of the sandbox; another model needs another start, which waits for no turn but is
 * refused while one runs. A password keeps other programs of the sandbox from driving it by accident: they have its identity, and
 * the sandbox is the wall. Its conversations are found by their titles, so that they last as long as its files do.
 */
import { randomBytes } from 'node:crypto';
import { setTimeout as delay } from 'node:timers/promises';
import type { RuntimePrompt } from '#shared/domain/runtime.ts';
import { runtimeSilenceSecondsMax, runtimeStartSecondsMax } from '#shared/domain/runtime.ts';
import type { ProcessControl } from '../../user-side.ts';
import {
  type AgentListener,
  type AgentParts,
  type AgentProgram,
  type AgentTurn,
  agentSearchPath,
} from '../agent-program.ts';
import { createLastWords, type LastWords } from '../last-words.ts';
import { type OpencodeClient, openOpencodeClient } from './opencode-client.ts';
import { createOpencodeFacts, type OpencodeFacts } from './opencode-facts.ts';
import { modelOf, settingsOf } from './opencode-wire.ts';

type Following = {
  readonly listener: AgentListener;
  readonly facts: OpencodeFacts;
  readonly stop: () => void;
};
type Running = {
  readonly settings: string;
  readonly client: OpencodeClient;
  readonly control: ProcessControl;
  readonly following: Set<Following>;
  isOver: boolean;
};

const healthMs = 200;

export const createOpencode = (parts: AgentParts, port: number): AgentProgram => {
  let running: Promise<Running> | undefined;
  /** One at a time: two would take the same port. */
  let queue: Promise<unknown> = Promise.resolve();
  const inTurn = <T>(work: () => Promise<T>): Promise<T> => {
    const next = queue.then(work, work);
    queue = next.catch(() => undefined);
    return next;
  };
  const programFor = async (prompt: RuntimePrompt): Promise<Running> => {
    const settings = JSON.stringify(settingsOf(prompt.provider, prompt.model));
    const now = await running?.catch(() => undefined);
    if (now !== undefined && !now.isOver) {
      if (now.settings === settings) return now;
      if (now.following.size > 0)
        throw new Error(
          'OpenCode works for another session of this sandbox with another model: try again later',
        );
      now.control.kill('cancelled');
      await now.control.ended.catch(() => undefined);
    }
    running = start(parts, settings, port);
    return running;
  };
  return {
    prompt: (prompt, listener) =>
      inTurn(async () => begin(parts, await programFor(prompt), { prompt, listener })),
  };
};

const start = async (parts: AgentParts, settings: string, port: number): Promise<Running> => {
  const password = randomBytes(24).toString('base64url');
  const env = {
    OPENCODE_CONFIG_CONTENT: settings,
    OPENCODE_SERVER_PASSWORD: password,
    OPENCODE_DISABLE_MODELS_FETCH: '1',
    OPENCODE_DISABLE_LSP_DOWNLOAD: '1',
    PATH: agentSearchPath(parts.workspace),
  };
  const argv = ['opencode', 'serve', '--port', String(port), '--hostname', '127.0.0.1'];
  const said = createLastWords();
  const control = await parts.userSide.startProcess({
    spec: { argv, env, isInputWhole: true },
    input: Buffer.alloc(0),
    onOutput: said.hear,
  });
  const client = openOpencodeClient(port, password);
  const running: Running = { settings, client, control, following: new Set(), isOver: false };
  const end = (message: string): void => {
    running.isOver = true;
    for (const { listener, stop } of running.following) {
      listener.fact({ type: 'ended', reason: 'lost', message });
      stop();
    }
  };
  const ended = control.ended.then(
    ({ exitCode, signal }) => end(`OpenCode ended (${signal ?? exitCode}): ${said.text()}`),
    () => end('OpenCode ended with all programs of the sandbox'),
  );
  await untilHealthy(client, running, said);
  const events = await client.events().catch(async (cause: unknown) => {
    // Its successor could not take its port.
    control.kill('cancelled');
    await control.ended.catch(() => undefined);
    throw cause;
  });
  void Promise.race([ended, listen(events, running)]).catch((cause: unknown) => {
    end(`OpenCode was no longer heard: ${cause instanceof Error ? cause.message : String(cause)}`);
    control.kill('cancelled');
  });
  return running;
};

const untilHealthy = async (client: OpencodeClient, running: Running, said: LastWords): Promise<void> => {
  const until = performance.now() + runtimeStartSecondsMax * 1000;
  while (!(await client.isHealthy())) {
    if (running.isOver) throw new Error(`OpenCode cannot be started in this sandbox: ${said.text()}`);
    if (performance.now() > until) {
      running.control.kill('cancelled');
      throw new Error(`OpenCode did not answer within ${runtimeStartSecondsMax} s`);
    }
    await delay(healthMs);
  }
};

/** Until the program closes its stream, or sends what is no event. */
const listen = async (
  events: Awaited<ReturnType<OpencodeClient['events']>>,
  running: Running,
): Promise<never> => {
  for await (const event of events)
    for (const each of running.following) {
      const { facts, deltas } = each.facts.read(event);
      for (const delta of deltas) each.listener.delta(delta);
      for (const fact of facts) each.listener.fact(fact);
      if (facts.some(({ type }) => type === 'ended')) each.stop();
      await each.listener.room();
    }
  throw new Error('it closed its stream of events');
};

const begin = async (
  { workspace }: AgentParts,
  { client, following }: Running,
  { prompt, listener }: { readonly prompt: RuntimePrompt; readonly listener: AgentListener },
): Promise<AgentTurn> => {
  const model = modelOf(prompt.provider, prompt.model);
  if (model === undefined)
    throw new Error(`OpenCode cannot reach models of ${prompt.provider} from a sandbox`);
  const session = await client.openSession(`sallyport ${prompt.conversation}`, prompt.asks);
  const facts = createOpencodeFacts(session, workspace);
  const abort = (): Promise<void> => client.abort(session);
  /** Those that wait for an answer: a person may take a day. */
  const questions = new Set<string>();
  let heardAt = performance.now();
  const look = setInterval(() => {
    const isSilent = questions.size === 0 && performance.now() - heardAt > runtimeSilenceSecondsMax * 1000;
    if (!isSilent && !facts.isStuck()) return;
    if (!facts.isStuck()) listener.fact({ type: 'fault', message: 'OpenCode was silent for too long' });
    heardAt = performance.now();
    void abort().catch(() => undefined);
  }, 1000);
  const each: Following = {
    listener,
    facts: {
      ...facts,
      read: (event) => {
        const heard = facts.read(event);
        if (heard.facts.length + heard.deltas.length > 0) heardAt = performance.now();
        for (const fact of heard.facts) if (fact.type === 'asked') questions.add(fact.permission);
        return heard;
      },
    },
    stop: () => {
      clearInterval(look);
      following.delete(each);
    },
  };
  following.add(each);
  try {
    await client.prompt(session, { model, text: prompt.text, system: prompt.instructions });
  } catch (cause) {
    each.stop();
    throw cause;
  }
  return {
    abort,
    reply: (reply) => {
      questions.delete(reply.permission);
      heardAt = performance.now();
      return client.reply(reply);
    },
  };
};
