/**
 * A deployment of one sandbox and one session by the documented wire, on a connection that fails as it is told to: it breaks
 * off inside of an answer, or after a request was carried out and before its answer.
 */
import type { IncomingMessage, ServerResponse } from 'node:http';
import { type WebSocket, WebSocketServer } from 'ws';
import { listen } from '../../local/endpoint/listen.ts';

export type Piece = { readonly stream: 'stdout' | 'stderr'; readonly text: string };
type Logged = { readonly type: string; readonly data: object };
export type Asked = {
  readonly route: string;
  readonly body: Buffer;
  readonly headers: IncomingMessage['headers'];
};
type Reply = (asked: Asked, response: ServerResponse) => void;

/** Answers that are still to break off, or to be lost. */
type Faults = { cuts: number; lostAnswers: number };

/** Few, so that most events come over the socket. */
const eventsPerPage = 2;

/** The same sequence in each run. */
const makeRandom = () => {
  let state = 7;
  return (below: number): number => {
    state = (state * 48_271) % 2_147_483_647;
    return state % below;
  };
};

export const startWireServer = async () => {
  const asked: Asked[] = [];
  const replies = new Map<string, Reply>();
  const faults: Faults = { cuts: 0, lostAnswers: 0 };
  const files = new Map<string, Buffer>();
  const log: Logged[] = [];
  let refusesSockets = false;
  const sockets = new WebSocketServer({ noServer: true, handleProtocols: () => 'sallyport.v1' });
  const random = makeRandom();

  const send = (response: ServerResponse, status: number, body?: unknown): void => {
    if (faults.lostAnswers > 0) {
      faults.lostAnswers -= 1;
      response.destroy();
      return;
    }
    response.writeHead(status, { 'content-type': 'application/json' });
    response.end(body === undefined ? '' : JSON.stringify(body));
  };

  /** Breaks off after some bytes, also inside of an event or of a character, while there are cuts left. */
  const stream = (response: ServerResponse, text: string): void => {
    response.writeHead(200, { 'content-type': 'text/event-stream' });
    const bytes = Buffer.from(text);
    if (faults.cuts === 0) return void response.end(bytes);
    faults.cuts -= 1;
    response.write(bytes.subarray(0, 40 + random(600)), () => response.destroy());
  };

  const receive = ({ body, headers, route }: Asked, response: ServerResponse): void => {
    const [, first = '0', total = String(body.length)] =
      /^bytes (\d+)-\d+\/(\d+)$/.exec(headers['content-range'] ?? '') ?? [];
    const before = files.get(route) ?? Buffer.alloc(0);
    const whole = Buffer.concat([before.subarray(0, Number(first)), body]);
    files.set(route, whole);
    send(response, whole.length < Number(total) ? 202 : 201, { received: whole.length });
  };

  const readLog = (query: URLSearchParams): object => {
    const since = Number(query.get('since_index') ?? -1);
    const events = log
      .map((event, index) => ({ ...event, index, at: '', sessionId: 's' }))
      .filter(({ index }) => index > since)
      .slice(0, eventsPerPage);
    return { sessionId: 's', lastIndex: log.length - 1, events };
  };

  const append = (...events: readonly Logged[]): void => {
    for (const event of events) {
      log.push(event);
      for (const socket of sockets.clients) tell(socket, log.length - 1);
    }
  };
  const tell = (socket: WebSocket, seq: number): void => {
    if (socket.readyState !== socket.OPEN) return;
    if (faults.cuts > 0 && random(4) === 0) {
      faults.cuts -= 1;
      socket.terminate();
      return;
    }
    socket.send(JSON.stringify({ ...log[seq], seq, sessionId: 's', at: '' }));
  };

  const { url, server, stop } = await listen(async (request, response) => {
    const chunks: Buffer[] = [];
    for await (const chunk of request) chunks.push(chunk as Buffer);
    const { pathname, searchParams } = new URL(request.url ?? '', 'http://localhost');
    const route = `${request.method} ${pathname.replace('/api/sessions/s', '')}`;
    const one = {
      route: `${route}${searchParams.size > 0 ? `?${searchParams}` : ''}`,
      body: Buffer.concat(chunks),
      headers: request.headers,
    };
    asked.push(one);
    const reply = replies.get(route);
    if (reply !== undefined) return reply(one, response);
    if (route.startsWith('PUT /files/')) return receive(one, response);
    if (route === 'POST /api/tickets') return send(response, 201, { ticket: 't', expiresInSeconds: 60 });
    if (route === 'GET /events') return send(response, 200, readLog(searchParams));
    if (route === 'GET ') return send(response, 200, { id: 's', kind: 'agent' });
    send(response, 404, {
      error: {
        code: 'not_found',
        message: 'no such route',
        suggestions: ['Look.'],
        recoveryActions: [],
        requestId: 'r',
      },
    });
  });
  server.on('upgrade', (request, stream, head) => {
    if (refusesSockets) return void stream.end('HTTP/1.1 403 Forbidden\r\nconnection: close\r\n\r\n');
    sockets.handleUpgrade(request, stream, head, (socket) => {
      const since = Number(
        new URL(request.url ?? '', 'http://localhost').searchParams.get('since') ?? log.length - 1,
      );
      socket.send(
        JSON.stringify({
          type: 'system:ready',
          sessionId: 's',
          seq: null,
          at: '',
          data: { lastSeq: log.length - 1 },
        }),
      );
      for (let seq = since + 1; seq < log.length; seq += 1) tell(socket, seq);
    });
  });
  return {
    url,
    asked,
    faults,
    files,
    append,
    refuseSockets: () => {
      refusesSockets = true;
    },
    send,
    stream,
    on: (route: string, reply: Reply) => void replies.set(route, reply),
    [Symbol.asyncDispose]: stop,
  };
};

export type WireServer = Awaited<ReturnType<typeof startWireServer>>;

const event = (name: string, data: object): string => `event: ${name}\ndata: ${JSON.stringify(data)}\n\n`;

/** The events of a process's output from an offset on, to its end. */
export const outputFrom = (pieces: readonly Piece[], offset: number): string => {
  let at = 0;
  const events = [event('start', { processId: 'p' })];
  for (const { stream, text } of pieces) {
    const bytes = Buffer.from(text);
    const from = Math.max(at, offset);
    const left = bytes.subarray(from - at);
    if (left.length > 0)
      events.push(
        event('output', { stream, offset: from, bytes: left.length, text: left.toString() }),
        ':\n\n',
      );
    at += bytes.length;
  }
  return [...events, event('exit', { exitCode: 3 })].join('');
};

/** The log of a turn whose message is the one that was posted, once per id. */
export const serveTurn = (server: WireServer, eventsCount: number): void => {
  const accepted = new Set<unknown>();
  server.on('POST /messages', ({ body }, response) => {
    const { messageId } = JSON.parse(String(body));
    if (accepted.has(messageId)) return server.send(response, 202, { messageId, lastSeq: -1 });
    accepted.add(messageId);
    const middle = Array.from({ length: eventsCount }, (_, index) => ({ type: 'system', data: { index } }));
    server.append({ type: 'message', data: { messageId, role: 'user', text: '' } }, ...middle, {
      type: 'completion',
      data: { stopReason: 'end_turn', text: 'done' },
    });
    server.send(response, 202, { messageId, lastSeq: -1 });
  });
};
