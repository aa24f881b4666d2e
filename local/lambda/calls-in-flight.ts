/**
 * The calls that a worker is running: who waits for which, and until when (A21).
 *
 * A call ends once: by its answer, by its deadline or with the thread. Messages that arrive for an ended
 * call are dropped, but its bytes are still acknowledged, so that a late function can come to its end.
 */
import { failure, type Outcome, type ResponseSink, timedOut } from './invocation.ts';
import type { Call, FromWorker, ToWorker } from './worker/messages.ts';

export type CallsInFlight = {
  readonly begin: (call: Call, sink: ResponseSink) => Promise<Outcome>;
  readonly receive: (message: FromWorker) => void;
  /** The thread has ended: what runs in it fails, and so does every call after. */
  readonly failAll: (reason: string) => void;
};

export type CallsInFlightOptions = {
  readonly send: (message: ToWorker) => void;
  readonly onTimeout: () => void;
};

/** https://docs.aws.amazon.com/lambda/latest/dg/lambda-runtime-environment.html: 10 seconds to initialise. */
const initTimeoutMs = 10_000;

type Running = {
  readonly call: Call;
  readonly sink: ResponseSink;
  readonly settle: (outcome: Outcome) => void;
  timer: NodeJS.Timeout;
  /** Chunks reach the sink one after the other. */
  delivered: Promise<void>;
};

export const trackCalls = ({ send, onTimeout }: CallsInFlightOptions): CallsInFlight => {
  const calls = new Map<number, Running>();
  let isClosed = false;

  const end = (running: Running, outcome: Outcome): void => {
    if (!calls.delete(running.call.callId)) return;
    clearTimeout(running.timer);
    void running.delivered.then(() => running.settle(outcome));
  };
  const timeOut = (running: Running): void => {
    end(running, timedOut(running.call.requestId, running.call.timeoutMs));
    onTimeout();
  };
  const acknowledge = (callId: number, bytes: Uint8Array): void => {
    send({ type: 'consumed', callId, bytes: bytes.length });
  };

  return {
    begin: (call, sink) =>
      new Promise((settle) => {
        if (isClosed) return settle(exited(call, 'no runtime'));
        const timer = setTimeout(() => timeOut(running), initTimeoutMs + call.timeoutMs);
        const running: Running = { call, sink, settle, timer, delivered: Promise.resolve() };
        calls.set(call.callId, running);
        send({ type: 'call', call });
        const abandon = (): void => send({ type: 'abandon', callId: call.callId });
        sink.abandoned?.addEventListener('abort', abandon, { once: true });
        return undefined;
      }),
    receive: (message) => {
      if (message.type === 'pong') return;
      const running = calls.get(message.callId);
      if (running !== undefined) advance(running, message, { end, timeOut, acknowledge });
      else if (message.type === 'chunk') acknowledge(message.callId, message.bytes);
    },
    failAll: (reason) => {
      isClosed = true;
      for (const running of [...calls.values()]) end(running, exited(running.call, reason));
    },
  };
};

const exited = ({ requestId }: Call, reason: string): Outcome =>
  failure('Runtime.ExitError', `RequestId: ${requestId} Error: ${reason}`);

type Steps = {
  readonly end: (running: Running, outcome: Outcome) => void;
  readonly timeOut: (running: Running) => void;
  readonly acknowledge: (callId: number, bytes: Uint8Array) => void;
};

const advance = (running: Running, message: Exclude<FromWorker, { type: 'pong' }>, steps: Steps): void => {
  switch (message.type) {
    case 'started':
      clearTimeout(running.timer);
      running.timer = setTimeout(() => steps.timeOut(running), running.call.timeoutMs);
      return;
    case 'began':
      running.sink.began(message.contentType);
      return;
    case 'chunk':
      running.delivered = running.delivered
        .then(() => running.sink.chunk(message.bytes))
        .catch(() => undefined)
        .then(() => steps.acknowledge(message.callId, message.bytes));
      return;
    case 'finished':
      steps.end(running, { kind: 'finished' });
      return;
    case 'failed':
      steps.end(running, { kind: 'failed', error: message.error });
      return;
    default:
      message satisfies never;
  }
};
