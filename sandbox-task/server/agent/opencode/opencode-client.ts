/** Requests to OpenCode's server on the sandbox's loopback. Each has a time and a size; what comes back is user code's. */

import type { RuntimeAsks, RuntimeReply } from '#shared/domain/runtime.ts';
import { firstCharacters } from '#shared/domain/text.ts';
import {
  createdSession,
  listedSessions,
  type OpencodeEvent,
  opencodeEvent,
  rulesOf,
} from './opencode-wire.ts';

type OpencodePrompt = {
  readonly model: { readonly providerID: string; readonly modelID: string };
  readonly text: string;
  readonly system?: string | undefined;
};

export type OpencodeClient = {
  readonly isHealthy: () => Promise<boolean>;
  /** The newest session of that title, under the rules of now; a new one where there is none. */
  readonly openSession: (title: string, asks: RuntimeAsks) => Promise<string>;
  readonly prompt: (session: string, prompt: OpencodePrompt) => Promise<void>;
  readonly abort: (session: string) => Promise<void>;
  readonly reply: (reply: RuntimeReply) => Promise<void>;
  /** Resolves once the stream is open; what comes in another shape than known is left out. */
  readonly events: () => Promise<AsyncIterable<OpencodeEvent>>;
};

const healthPath = '/global/health';
const askMsMax = 30_000;
const healthMsMax = 2000;
const answerBytesMax = 4 * 1_048_576;
/** Of a refusal, as it is reported. */
const answerCharactersMax = 300;
/** One event, in characters: its diffs and outputs are bounded by the program. */
const eventCharactersMax = 8 * 1_048_576;

export const openOpencodeClient = (port: number, password: string): OpencodeClient => {
  const root = `http://127.0.0.1:${port}`;
  const authorization = `Basic ${Buffer.from(`opencode:${password}`).toString('base64')}`;
  const ask = (method: string, path: string, body?: object): Promise<Response> =>
    fetch(root + path, {
      method,
      headers: { authorization, ...(body === undefined ? {} : { 'content-type': 'application/json' }) },
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
      signal: AbortSignal.timeout(path === healthPath ? healthMsMax : askMsMax),
    });
  const askJson = async (method: string, path: string, body?: object): Promise<unknown> => {
    const text = await textOf(await expectOk(await ask(method, path, body), path));
    return text === '' ? undefined : JSON.parse(text);
  };
  return {
    isHealthy: async () => {
      try {
        const answer = await ask('GET', healthPath);
        await answer.body?.cancel();
        return answer.ok;
      } catch {
        return false;
      }
    },
    openSession: async (title, asks) => {
      const permission = rulesOf(asks);
      const known = listedSessions.parse(await askJson('GET', '/session'));
      const [newest] = known
        .filter((session) => session.title === title)
        .toSorted((one, other) => other.time.updated - one.time.updated);
      if (newest === undefined)
        return createdSession.parse(await askJson('POST', '/session', { title, permission })).id;
      await askJson('PATCH', `/session/${newest.id}`, { permission });
      return newest.id;
    },
    prompt: async (session, { model, text, system }) => {
      await askJson('POST', `/session/${session}/prompt_async`, {
        model,
        parts: [{ type: 'text', text }],
        ...(system === undefined ? {} : { system }),
      });
    },
    abort: async (session) => {
      await askJson('POST', `/session/${session}/abort`);
    },
    reply: async ({ permission, approved, reason }) => {
      const path = `/permission/${permission}/reply`;
      // A rejection without words ends the program's turn; with words its model goes on.
      const message =
        reason === undefined ? 'The user rejected this call.' : `The user rejected this call: ${reason}`;
      const body = approved ? { reply: 'once' } : { reply: 'reject', message };
      const answer = await ask('POST', path, body);
      if (answer.status !== 404) await expectOk(answer, path);
      await answer.body?.cancel().catch(() => undefined);
    },
    events: async () => {
      const answer = await fetch(`${root}/event`, { headers: { authorization } });
      if (!answer.ok || answer.body === null) throw new Error(`GET /event: ${answer.status}`);
      return readEvents(answer.body);
    },
  };
};

const expectOk = async (answer: Response, path: string): Promise<Response> => {
  if (answer.ok) return answer;
  const text = firstCharacters(await textOf(answer), answerCharactersMax);
  throw new Error(`OpenCode answered ${answer.status} to ${path}: ${text}`);
};

const textOf = async (answer: Response): Promise<string> => {
  const decoder = new TextDecoder();
  let text = '';
  for await (const chunk of answer.body ?? []) {
    text += decoder.decode(chunk, { stream: true });
    if (text.length > answerBytesMax) throw new Error('OpenCode answered too much');
  }
  return text;
};

async function* readEvents(body: ReadableStream<Uint8Array>): AsyncGenerator<OpencodeEvent> {
  const decoder = new TextDecoder();
  let pending = '';
  for await (const chunk of body) {
    pending += decoder.decode(chunk, { stream: true });
    if (pending.length > eventCharactersMax) throw new Error('it sent an event that is too long');
    const lines = pending.split('\n');
    pending = lines.pop() ?? '';
    for (const line of lines) {
      const event = line.startsWith('data:') ? eventOf(line.slice('data:'.length)) : undefined;
      if (event !== undefined) yield event;
    }
  }
}

const eventOf = (text: string): OpencodeEvent | undefined => {
  try {
    return opencodeEvent.safeParse(JSON.parse(text)).data;
  } catch {
    return undefined;
  }
};
