/** Logs one line for each refused request, with its code: error counts come from it. A fault of ours has its stack. */
import { errorRules, isAppError } from '../../errors.ts';
import type { LogFields, Telemetry } from '../../ports/telemetry.ts';

const faultFrom = 500;

export const recordRefusal = (telemetry: Telemetry, error: unknown, about: LogFields = {}): void => {
  if (!isAppError(error)) {
    telemetry.error('a request failed', {
      event: 'request_refused',
      code: 'internal_error',
      ...about,
      error,
    });
    return;
  }
  const { code } = error;
  const { status } = errorRules[code];
  const refused = { event: 'request_refused', code, status, ...about };
  if (status < faultFrom) telemetry.info('a request was refused', refused);
  else telemetry.warn('a request was refused', { ...refused, error });
};
