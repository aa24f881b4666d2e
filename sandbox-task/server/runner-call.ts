/**
 * A call on one runner: messages under one id until the last of them, with a deadline of the server's own.
 *
 * User code can stop the runner that should keep the time; a runner that loses a call is killed.
 */
import type { KillCause, RunnerRequest } from '../wire/messages.ts';
import { Refusal } from './refusal.ts';
import type { Answer, RunnerProcess } from './runner-process.ts';

export type CallOptions = {
  readonly request: RunnerRequest;
  readonly payload: Buffer | undefined;
  readonly timeoutMs: number;
  /** How much later than the runner the server loses patience, in milliseconds. */
  readonly killMsMax: number;
  /** True for a message that is not the last. */
  readonly takePiece: (answer: Answer) => boolean;
};
export type RunningCall = {
  /** The last message; a refusal of the runner is thrown. */
  readonly ended: Promise<Answer>;
  readonly kill: (cause: KillCause) => void;
};

export const followCall = (runner: RunnerProcess, id: number, options: CallOptions): RunningCall => {
  const { request, payload, timeoutMs, killMsMax, takePiece } = options;
  const { promise, resolve, reject } = Promise.withResolvers<Answer>();
  const patience = (waitMs: number): NodeJS.Timeout =>
    setTimeout(() => runner.kill('a call did not end in time'), waitMs);
  let deadline = patience(timeoutMs + killMsMax);
  const settle = (): void => {
    clearTimeout(deadline);
    letGo();
  };
  const take = (answer: Answer): void => {
    if (takePiece(answer)) return;
    settle();
    const { message } = answer;
    if ('isGone' in message && !message.isGone) runner.kill('processes of a call could not be killed');
    if (message.type === 'refused') reject(new Refusal(message.failure, message.message));
    else resolve(answer);
  };
  const fail = (cause: Error): void => {
    settle();
    reject(cause);
  };
  const letGo = runner.listen(id, { take, fail });
  runner.send(request, payload);
  const kill = (cause: KillCause): void => {
    clearTimeout(deadline);
    deadline = patience(killMsMax);
    runner.send({ type: 'kill', id, cause });
  };
  return { ended: promise, kill };
};
