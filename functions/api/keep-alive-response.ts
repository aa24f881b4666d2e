/**
 * An answer that may take longer than the connections in front of this function stay open in silence. After a while it sends
 * its status and white space, which JSON allows before a value, and the value when it is ready.
 *
 * A failure after that cannot change the status: the answer then has status 200 and consists of the error body.
 */
import type { StreamedResult } from '#shared/adapters/lambda/lambda-runtime.ts';
import { firstOf, lateJson } from '#shared/adapters/lambda/late-json.ts';
import type { Deps } from '#shared/application/deps.ts';
import { answerSilenceMsMax } from '#shared/domain/limits.ts';
import { errorBody } from '#shared/errors.ts';
import { json } from './api-route.ts';

type SlowOptions = Deps<'telemetry'> & {
  readonly requestId: string;
  readonly silenceMs?: number;
  /** Of an answer that comes in time; 200 for all without it. */
  readonly status?: () => number;
};

export const answerWhenDone = async (
  work: () => Promise<unknown>,
  { telemetry, requestId, silenceMs = answerSilenceMsMax, status = () => 200 }: SlowOptions,
): Promise<StreamedResult> => {
  const done = work();
  const early = await firstOf(
    done.then((value) => ({ value })),
    silenceMs,
  );
  if (early !== undefined) return json(status(), early.value);
  const outcome = done.catch((error: unknown) => {
    telemetry.warn('a request failed after its answer had begun', { error });
    return errorBody(error, requestId);
  });
  return { ...json(200, undefined), body: lateJson(outcome) };
};
