/** The link's own refusals, and the check that a target is an address in the range of the sandboxes. */
import type { StreamedResult } from '#shared/adapters/lambda/lambda-runtime.ts';
import { linkHeader } from '#shared/contracts/link.ts';
import { isInRange } from '#shared/domain/ip-address.ts';
import { AppError, type ErrorCode, errorBody, errorStatus } from '#shared/errors.ts';
import type { Telemetry } from '#shared/ports/telemetry.ts';

export type TargetCheck = { readonly range: string; readonly telemetry: Telemetry };

/** The refusal of a target that nothing may be sent to, or undefined. */
export const refuseTarget = (target: URL, { range, telemetry }: TargetCheck): StreamedResult | undefined => {
  if (!isInRange(target.hostname, range)) {
    telemetry.warn('a target outside the range was refused', { host: target.hostname });
    return refusal('forbidden', 'the address is outside the range of the sandboxes');
  }
  if (target.protocol !== 'http:' || target.href !== `${target.origin}/`)
    return refusal('invalid_request', 'the address is not http://<address>:<port>');
  return undefined;
};

export const refusal = (code: ErrorCode, message: string): StreamedResult => {
  const error = new AppError(code, message);
  return {
    statusCode: errorStatus(error),
    headers: { 'content-type': 'application/json', [linkHeader]: 'refused' },
    body: JSON.stringify(errorBody(error, '')),
  };
};
