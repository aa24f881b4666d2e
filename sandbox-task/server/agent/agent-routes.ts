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

type Parts = { readonly agents: AgentTurns; readonly relay: Pick<SandboxRelay, 'onWanted'> };
type Serve = (parts: Parts, exchange: Exchange) => Promise<void> | void;

export const agentRoutes: readonly { readonly pattern: RegExp; readonly serve: Serve }[] = [
  {
    pattern: /^PUT \/agent\/turns\/([^/]+)$/,
    serve: async ({ agents }, { request, response, name }) => {
      agents.put(name, parse(runtimePrompt, await readBody(request, runtimePromptBytesMax * 2)));
      response.writeHead(204).end();
    },
  },
  {
    pattern: /^GET \/agent\/turns\/([^/]+)\/events$/,
    serve: async ({ agents, relay }, { response, query, name }) => {
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
        const page = await agents.recorderOf(name).take(after, { ms, signal: left.signal });
        sendJson(response, { ...page, ...(isWanted ? { [relayWantedField]: true } : {}) });
      } finally {
        end();
      }
    },
  },
  {
    pattern: /^POST \/agent\/turns\/([^/]+)\/replies$/,
    serve: async ({ agents }, { request, response, name }) => {
      const { replies } = parse(runtimeReplies, await readBody(request, runtimePromptBytesMax));
      await agents.reply(name, replies);
      response.writeHead(204).end();
    },
  },
  {
    pattern: /^POST \/agent\/turns\/([^/]+)\/abort$/,
    serve: async ({ agents }, { response, name }) => {
      await agents.abort(name);
      response.writeHead(204).end();
    },
  },
];

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
