/**
 * Plays a connection and says what was wrong with what came back.
 *
 * All frames go out at once and are answered in any order: each that is no action of the contract is refused, each
 * `ping` of the contract answered, and then the connection ends as its end asks for.
 */
import { once } from 'node:events';
import { connect, type Socket } from 'node:net';
import { WebSocket } from 'ws';
import { decodeAction } from '#shared/contracts/socket-actions.ts';
import { type Cast, noteIds, spoken } from './cast.ts';
import { answerMsMax, exchange, type RawRequest } from './raw-http.ts';
import type { Conversation, Said } from './socket-cases.ts';
import { bytesOfFrame, fragments } from './socket-frames.ts';
import { isRefusalCode, leakIn, parsed } from './verdict.ts';

type Heard = {
  readonly type?: unknown;
  readonly data?: { readonly error?: Readonly<Record<string, unknown>> };
};

export const playConversation = async (asked: Conversation, cast: Cast): Promise<string | undefined> => {
  const lines = asked.said.map((line) => ({ ...line, text: spoken(cast, line.text) }));
  const client = await open(asked, cast);
  if (typeof client === 'string') return `no connection: ${client}`;
  const { heard, raw, closed } = client;
  const pings = lines.filter((line) => actionOf(line) === 'ping').length;
  const refused = lines.filter((line) => actionOf(line) === undefined).length;
  raw.write(Buffer.concat(lines.flatMap(({ text, pieces }) => fragments(text, pieces).map(bytesOfFrame))));
  const isAnswered = (): boolean =>
    heard.filter(({ type }) => type === 'pong').length >= pings && heard.filter(isInvalid).length >= refused;
  const findProblem = (): string | undefined =>
    heard.map((frame) => frameProblem(frame, cast)).find((one) => one !== undefined);
  let early: number | undefined;
  void closed.then((code) => {
    early = code;
  });
  await until(() => isAnswered() || early !== undefined || findProblem() !== undefined);
  const problem = findProblem();
  if (problem === undefined && early === undefined && isAnswered()) return end(asked, { raw, closed });
  raw.destroy();
  const came = `of ${refused} refusals and ${pings} pongs came: ${JSON.stringify(counted(heard))}`;
  return problem ?? (early === undefined ? `not in time: ${came}` : `closed with ${early}: ${came}`);
};

const counted = (heard: readonly Heard[]): Readonly<Record<string, number>> => {
  const counts: Record<string, number> = {};
  for (const { type, data } of heard) {
    const kind = `${String(type)} ${String(data?.error?.['code'] ?? '')}`.trim();
    counts[kind] = (counts[kind] ?? 0) + 1;
  }
  return counts;
};

const actionOf = ({ text }: Said): string | undefined => {
  const decoded = decodeAction(Buffer.from(text, 'latin1').toString());
  return decoded.ok ? decoded.value.action : undefined;
};

const isInvalid = ({ type, data }: Heard): boolean =>
  type === 'error' && data?.error?.['code'] === 'invalid_request';

const frameProblem = (frame: Heard, cast: Cast): string | undefined => {
  const text = JSON.stringify(frame);
  const leak = leakIn(text, cast);
  if (leak !== undefined) return `${leak}: ${text.slice(0, 500)}`;
  if (typeof frame.type !== 'string') return `the gateway complains: ${text.slice(0, 500)}`;
  if (frame.type !== 'error') return undefined;
  const { code, requestId } = frame.data?.error ?? {};
  return isRefusalCode(code) && typeof requestId === 'string'
    ? undefined
    : `a refusal of no form: ${text.slice(0, 500)}`;
};

const open = async ({ token, session }: Conversation, cast: Cast) => {
  const opened: { raw?: Socket } = {};
  // By now its project may have another provider, without a key.
  const query = session === '' ? '?provider=demo' : `?sessionId=${spoken(cast, session)}`;
  const socket = new WebSocket(`ws://127.0.0.1:${cast.port}/ws${query}`, {
    headers: { authorization: `Bearer ${cast.names.get(token)}` },
    createConnection: () => {
      opened.raw = connect(cast.port, '127.0.0.1');
      return opened.raw;
    },
  });
  const heard: Heard[] = [];
  socket.on('message', (bytes) => {
    noteIds(cast, String(bytes));
    heard.push(parsed(String(bytes)) ?? {});
  });
  const closed = new Promise<number>((resolve) => socket.once('close', resolve));
  let refusal = '';
  socket.on('error', ({ message }) => {
    refusal = message;
  });
  const isOpen = await Promise.race([once(socket, 'open').then(() => true), closed.then(() => false)]);
  return isOpen && opened.raw !== undefined ? { heard, closed, raw: opened.raw } : refusal;
};

const pollMs = 10;

const until = async (holds: () => boolean): Promise<void> => {
  const deadline = Date.now() + answerMsMax;
  while (!holds() && Date.now() < deadline) await new Promise((resolve) => setTimeout(resolve, pollMs));
};

const end = async (
  { ending }: Conversation,
  { raw, closed }: { readonly raw: Socket; readonly closed: Promise<number> },
): Promise<string | undefined> => {
  if (ending.bytes === '') raw.destroy();
  else raw.write(Buffer.from(ending.bytes, 'latin1'));
  const timer = Promise.withResolvers<'open'>();
  const clock = setTimeout(() => timer.resolve('open'), answerMsMax);
  const code = await Promise.race([closed, timer.promise]);
  clearTimeout(clock);
  raw.destroy();
  return code === ending.code ? undefined : `${ending.name} should close with ${ending.code}: ${code}`;
};

/** A handshake is refused by the gateway in its own words (A6, A7 in docs/spec/aws.md), or by whoever reads HTTP. */
const refusals = [400, 401, 403, 404, 405, 409, 426, 429, 431];

export const playHandshake = async (asked: RawRequest, cast: Cast): Promise<string | undefined> => {
  const answer = await exchange(cast.port, asked);
  if (answer.kind !== 'answered') return answer.kind;
  const { status, text } = answer;
  if (![101, ...refusals].includes(status)) return `status ${status}: ${text.slice(0, 300)}`;
  return leakIn(text, cast);
};
