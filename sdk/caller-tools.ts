/**
 * Tools of a program: offered to an agent while the program reads the events of a turn, and run when the agent calls them.
 *
 * A call is an event of the log, which comes once whatever happens to the connection. An offer is no part of a connection either, so
 * a call outlives one. The package loads this module when a program first gives tools.
 */
import type { JsonObject } from '../shared/domain/json.ts';
import { callerAnswerMs } from '../shared/domain/limits.ts';
import type { ApiClient } from './api-client.ts';
import { SallyportError } from './errors.ts';
import type { Frame, FrameOf } from './frames.ts';
import type { Signalled } from './route.ts';
import { api } from './routes.ts';

export type CallerTool = {
  readonly name: string;
  readonly description?: string;
  /** JSON schema of the arguments; absent: any object. */
  readonly inputSchema?: JsonObject;
  /**
   * Its result reaches the agent: a text as it is, content of MCP as such, any other value as JSON. An exception is the error of the
   * call. Arguments come from a model and are not checked against the schema.
   */
  // biome-ignore lint/suspicious/noExplicitAny: the schema says what they are
  readonly handler: (args: any, call: CallerToolCall) => unknown;
};

export type CallerToolCall = {
  /** The same again where a program that died takes up a call. */
  readonly requestId: string;
  /** Aborted when a result is no longer accepted: after 60 s, or when the turn is no longer followed. */
  readonly signal: AbortSignal;
};

export type CallerToolOptions = {
  readonly tools?: readonly CallerTool[] | undefined;
  /** The agent sees each tool as `<callerId>_<name>`; absent: `program`. */
  readonly callerId?: string | undefined;
};

type Followed = Signalled &
  CallerToolOptions & { readonly sessionId: string; readonly events: AsyncGenerator<Frame, void> };

type Answer = { readonly result?: unknown } | { readonly error: string };

/** The server takes no longer one. */
const errorCharactersMax = 10_000;

/** Sessions that are followed with tools: a second listener would run each call again. */
const followed = new Set<string>();

export async function* answerCalls(client: ApiClient, options: Followed): AsyncGenerator<Frame, void> {
  const key = `${client.url} ${options.sessionId}`;
  if (followed.has(key)) throw alreadyFollowed();
  followed.add(key);
  try {
    yield* followWithTools(client, options);
  } finally {
    followed.delete(key);
  }
}

async function* followWithTools(
  client: ApiClient,
  { sessionId, tools = [], callerId = 'program', events, signal }: Followed,
): AsyncGenerator<Frame, void> {
  const params = { id: sessionId };
  const offered = tools.map(({ handler: _, ...tool }) => tool);
  const body = { callerId, tools: offered };
  const declared = await client.request(api.declareCallerTools, { params, body }, { signal });
  const { offer, lastSeq, requests } = declared;
  const calls = openCalls(client, sessionId, tools);
  try {
    for await (const frame of events) {
      const isNew = frame.seq !== null && frame.seq > lastSeq;
      if (isRequestTo(callerId, frame) && (isNew || requests.includes(frame.data.requestId)))
        void calls.run(frame.data);
      yield frame;
    }
  } finally {
    await calls.end();
    // Another program may have offered its own since. Tools that stay are replaced by the next offer, and their calls fail after their time.
    await client
      .request(api.declareCallerTools, { params, body: { callerId, tools: [], offer } })
      .catch(() => undefined);
  }
}

const alreadyFollowed = (): SallyportError =>
  new SallyportError(0, {
    code: 'conflict',
    message: 'this program follows a turn of the session with tools already',
    suggestions: ['Read its events to their end first.'],
  });

type Request = FrameOf<'caller_tool:request'>;

/** Another program may offer a tool of the same name. */
const isRequestTo = (callerId: string, frame: Frame): frame is Request =>
  frame.type === 'caller_tool:request' && frame.data.callerId === callerId;

const openCalls = (client: ApiClient, sessionId: string, tools: readonly CallerTool[]) => {
  const running = new Map<string, () => void>();
  const answer = async (requestId: string, body: Answer): Promise<void> => {
    const parts = { params: { id: sessionId, requestId }, body };
    // A second answer is refused, and changes nothing.
    await client.request(api.answerCallerTool, parts, { repeat: 'lost' });
  };
  const run = async ({ requestId, name, args }: Request['data']): Promise<void> => {
    const tool = tools.find((one) => one.name === name);
    // Of an offer before this one.
    if (tool === undefined) return;
    const abort = new AbortController();
    const late = setTimeout(() => abort.abort(noResultInTime()), callerAnswerMs);
    running.set(requestId, () => {
      clearTimeout(late);
      abort.abort();
    });
    const given = await answerOf(tool, args, { requestId, signal: abort.signal });
    clearTimeout(late);
    if (!running.delete(requestId)) return;
    await answer(requestId, given).catch(async (cause: SallyportError) => {
      // One that is over takes no answer. One that was refused for itself leaves the agent waiting.
      if (cause.status !== 400 && cause.status !== 413) return;
      await answer(requestId, { error: `its result was refused: ${cause.message}` }).catch(() => undefined);
    });
  };
  return {
    run,
    end: async (): Promise<void> => {
      const left = [...running];
      running.clear();
      for (const [, abort] of left) abort();
      const error = 'the program does not follow the turn any more';
      await Promise.allSettled(left.map(([requestId]) => answer(requestId, { error })));
    },
  };
};

const noResultInTime = (): DOMException => new DOMException('no result in time', 'TimeoutError');

const answerOf = async (tool: CallerTool, args: unknown, call: CallerToolCall): Promise<Answer> => {
  try {
    const result = await tool.handler(args, call);
    // A value that is no JSON is an error of the tool, too.
    JSON.stringify(result);
    return { result };
  } catch (cause) {
    const message = cause instanceof Error ? cause.message || cause.name : String(cause);
    return { error: message.slice(0, errorCharactersMax) };
  }
};
