/** A session with an agent: messages and the events of its turns, decisions about its calls, its files. */
import type { ApiClient } from './api-client.ts';
import { checkDigest, checkEffect, decideCall } from './approvals.ts';
import type { CallerToolOptions } from './caller-tools.ts';
import type * as exportModule from './conversation-export.ts';
import type { Frame, FrameOf } from './frames.ts';
import type { AnswerOf, Signalled } from './route.ts';
import { api, type Decision, type Session, type SessionOptions } from './routes.ts';
import { Sandbox } from './sandbox.ts';
import { type MessageOptions, retryAndFollow, sendAndFollow } from './turn-events.ts';

export type ApprovalEvent = FrameOf<'tool:approval_required'>;
/** Of a call that was shown elsewhere, with its digest. */
export type NamedApproval = {
  readonly callId: string;
  readonly digest: string;
  readonly turnId?: string;
  /** Of a call that was tried: what it did. */
  readonly effectDigest?: string;
  /** The session of the agent that makes the call, where it is another one of the tree. */
  readonly sessionId?: string;
};
export type ApproveOptions = Signalled & Omit<Decision, 'approved' | 'reason'>;
/** Settings that are left out are those of the other session. */
export type BranchOptions = Signalled &
  Omit<SessionOptions, 'from'> & {
    /** The files as they were at that message (`then`), or as they are now. */
    readonly files?: 'then' | 'now';
  };
export type Message = AnswerOf<typeof api.readMessages>['messages'][number];

export class AgentSession {
  readonly id: string;
  /** As it was when it was created or found. */
  readonly session: Session | undefined;
  /** Its workspace and the sandbox that it shares with the agent. */
  readonly sandbox: Sandbox;
  readonly #client: ApiClient;

  /** No request is made: the session may be any of which the id is known. */
  constructor(client: ApiClient, id: string, session?: Session) {
    this.#client = client;
    this.id = id;
    this.session = session;
    this.sandbox = new Sandbox(client, id, session);
  }

  /**
   * Sends a message and gives the events until the end of its turn: the last one is its `completion`. Calls of `tools` are answered
   * while the events are read.
   */
  send(text: string, options: MessageOptions & CallerToolOptions = {}): AsyncGenerator<Frame, void> {
    return this.#withTools(options, sendAndFollow(this.#client, this.id, { ...options, text }));
  }

  /** Approves the call that an event shows: another one that waits by now is a `conflict`, and nothing runs. */
  async approve(
    call: ApprovalEvent | NamedApproval,
    { signal, ...options }: ApproveOptions = {},
  ): Promise<void> {
    await this.#decide(call, { ...options, approved: true }, signal);
  }

  /** Rejects the call that an event shows; the reason reaches the agent. */
  async reject(
    call: ApprovalEvent | NamedApproval,
    reason?: string,
    { signal }: Signalled = {},
  ): Promise<void> {
    await this.#decide(call, { approved: false, reason }, signal);
  }

  async #decide(
    call: ApprovalEvent | NamedApproval,
    decision: Decision,
    signal: AbortSignal | undefined,
  ): Promise<void> {
    if ('data' in call) await checkShown(call);
    const { sessionId, ...named } = 'data' in call ? { ...call.data, sessionId: call.sessionId } : call;
    await decideCall(this.#client, { ...named, sessionId: sessionId ?? this.id, signal }, decision);
  }

  /** Repeats the message of the last turn, which failed, and gives the events until the end of its turn. */
  retry(options: Signalled & CallerToolOptions = {}): AsyncGenerator<Frame, void> {
    return this.#withTools(options, retryAndFollow(this.#client, this.id, options));
  }

  async *#withTools(options: Signalled & CallerToolOptions, events: AsyncGenerator<Frame, void>) {
    const { tools } = options;
    yield* tools
      ? (await import('./caller-tools.ts')).answerCalls(this.#client, {
          ...options,
          sessionId: this.id,
          events,
        })
      : events;
  }

  /**
   * Stops the running turn, and says what it found: the `turn` of the session, those of sessions `below` it alone, or `nothing`. Not
   * sent twice: a second one would stop the next.
   */
  async cancel({ signal }: Signalled = {}): Promise<AnswerOf<typeof api.cancelTurn>['cancelled']> {
    return (await this.#client.request(api.cancelTurn, { params: { id: this.id } }, { signal })).cancelled;
  }

  /** Reads the conversation so far. */
  async messages({ signal }: Signalled = {}): Promise<readonly Message[]> {
    const parts = { params: { id: this.id } };
    return (await this.#client.request(api.readMessages, parts, { signal })).messages;
  }

  info({ signal }: Signalled = {}): Promise<Session> {
    return this.#client.request(api.showSession, { params: { id: this.id } }, { signal });
  }

  /** Reopens the session after its end, while its history is kept; without its grants. */
  resume({ signal }: Signalled = {}): Promise<Session> {
    return this.#client.request(api.resumeSession, { params: { id: this.id } }, { signal });
  }

  /** Exports the conversation: Markdown for people, JSON with all events. */
  export(format: exportModule.ExportFormat = 'markdown', { signal }: Signalled = {}): Promise<string> {
    return exportConversation(this.#client, { id: this.id, format, signal });
  }

  /**
   * Makes a new session that goes on from a message of this one: with what was said before a message of the user, or up to an answer, and
   * with the files of that time.
   */
  async branch(messageId: string, { signal, ...options }: BranchOptions = {}): Promise<AgentSession> {
    const { files, ...settings } = options;
    const from = { session: this.id, messageId, files };
    const session = await this.#client.request(api.makeSession, { body: { ...settings, from } }, { signal });
    return new AgentSession(this.#client, session.id, session);
  }

  /** Ends the session and its sandbox. */
  async stop({ signal }: Signalled = {}): Promise<void> {
    await this.#client.request(api.endSession, { params: { id: this.id } }, { signal });
  }
}

/** Few programs export: its code is loaded when it is used. */
export const exportConversation = async (
  ...given: Parameters<typeof exportModule.exportConversation>
): Promise<string> => (await import('./conversation-export.ts')).exportConversation(...given);

/** A frame that was cut does not hold the whole call; the server then asks for the digest alone. */
const checkShown = async ({ data }: ApprovalEvent): Promise<void> => {
  await checkEffect(data);
  if ('argsTruncated' in data) return;
  await checkDigest(data, data.digest);
};
