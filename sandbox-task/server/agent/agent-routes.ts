/** The routes by which the platform hands a turn to a program of the sandbox, hears it, answers it and stops it. */
import type * as z from 'zod';
import { runtimePrompt, runtimeReplies } from '#shared/contracts/agent-runtime.ts';
import { describeIssues, inPlainWords } from '#shared/contracts/issue-text.ts';
import { relayWantedField } from '#shared/contracts/relay/wanted.ts';
import { runtimePromptBytesMax, runtimeWaitMs } from '#shared/domain/runtime.ts';
import type { Exchange } from '../exchange.ts';
import { readBody, sendJson } from '../http-messages.ts';
import { Refusal } from '../refusal.ts';
import type { SandboxRelay } from '../relay/relay.ts';
import type { AgentTurns } from './agent-turns.ts';

type Parts = { readonly turns: AgentTurns; readonly relay: Pick<SandboxRelay, 'onWanted'> };
type Serve = (parts: Parts, exchange: Exchange) => Promise<void> | void;

/** By the method and what is behind the turn's id, which is the name of the exchange. */
const routes: Readonly<Record<string, Serve>> = {
  'PUT ': async ({ turns }, { request, response, name }) => {
    turns.put(name, parse(runtimePrompt, await readBody(request, runtimePromptBytesMax * 2)));
    response.writeHead(204).end();
  },
  'GET /events': async ({ turns, relay }, { response, query, name }) => {
    const after = readNumber(query, 'after');
    const ms = Math.min(readNumber(query, 'wait'), runtimeWaitMs);
    const left = new AbortController();
    response.once('close', () => left.abort());
    let isWanted = false;
    // The platform is told at once: the program may be waiting for its model.
    const end = relay.onWanted(() => {
      isWanted = true;
      left.abort();
    });
    try {
      const page = await turns.recorderOf(name).take(after, { ms, signal: left.signal });
      sendJson(response, { ...page, ...(isWanted ? { [relayWantedField]: true } : {}) });
    } finally {
      end();
    }
  },
  'POST /replies': async ({ turns }, { request, response, name }) => {
    const { replies } = parse(runtimeReplies, await readBody(request, runtimePromptBytesMax));
    await turns.reply(name, replies);
    response.writeHead(204).end();
  },
  'POST /abort': async ({ turns }, { response, name }) => {
    await turns.abort(name);
    response.writeHead(204).end();
  },
};

export const serveAgent = async (parts: Parts, exchange: Exchange): Promise<void> => {
  const { method, url = '' } = exchange.request;
  const behind = /^\/agent\/turns\/[^/?]+([^?]*)/.exec(url)?.[1] ?? '';
  const serve = Object.hasOwn(routes, `${method} ${behind}`) ? routes[`${method} ${behind}`] : undefined;
  if (serve === undefined) throw new Refusal('not_found', 'no such route');
  await serve(parts, exchange);
};

const readNumber = (query: URLSearchParams, field: string): number => {
  const text = query.get(field) ?? '0';
  if (!/^\d{1,15}$/.test(text)) throw new Refusal('invalid_request', `${field} is a number`);
  return Number(text);
};

const parse = <T>(schema: z.ZodType<T>, body: Buffer): T => {
  const read = schema.safeParse(readJson(body), inPlainWords);
  if (read.success) return read.data;
  throw new Refusal('invalid_request', describeIssues(read.error.issues, 'the body'));
};

const readJson = (body: Buffer): unknown => {
  try {
    return JSON.parse(body.toString());
  } catch (cause) {
    throw new Refusal('invalid_request', 'the body is no JSON', { cause });
  }
};
