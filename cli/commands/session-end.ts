/**
 * `--stop`: the session of a command ends with it, once, whether the command succeeded, failed or was interrupted.
 *
 * A failure of the command is reported first. If its session could not be ended either, that is reported too.
 */
import type { BodyOf } from '#sdk/route.ts';
import { api } from '#sdk/routes.ts';
import type { Call } from '../runtime/command.ts';
import { toFailure } from '../runtime/failure.ts';

/** `sessionId` is asked after the work: a session may be made by it. */
export const endingSession = async <T>(
  call: Call,
  sessionId: () => string | undefined,
  work: () => Promise<T>,
): Promise<T> => {
  const end = async (): Promise<void> => {
    const id = sessionId();
    if (call.isSet('stop') && id !== undefined) await call.request(api.endSession, { params: { id } });
  };
  let result: T;
  try {
    result = await work();
  } catch (error) {
    await end().catch((cause: unknown) => {
      const { message, body } = toFailure(cause);
      call.output.note(`Session ${sessionId()} was not ended: ${message} (${body.error.code})`);
    });
    throw error;
  }
  await end();
  return result;
};

/** The id of a new session. One that is to end with its command is waited for when the command is aborted: only then is it known. */
export const makeSession = async (
  call: Call,
  body: BodyOf<typeof api.makeSession>,
  signal: AbortSignal,
): Promise<string> => {
  const options = call.isSet('stop') ? { triesSignal: signal } : { signal };
  return (await call.request(api.makeSession, { body }, options)).id;
};
