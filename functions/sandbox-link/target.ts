/** Who the link may talk to: an address inside the sandboxes' range, and what it says to everyone else. */
import type { StreamedResult } from '#shared/adapters/lambda/lambda-runtime.ts';
import { linkHeader } from '#shared/contracts/link.ts';
import { isInRange } from '#shared/domain/address-range.ts';
import { AppError, type ErrorCode, errorBody, errorStatus } from '#shared/errors.ts';
import type { Telemetry } from '#shared/ports/telemetry.ts';

export type Gate = { readonly range: string; readonly telemetry: Telemetry };

/** Why nothing may be sent there, or `undefined`. */
export const refuseTarget = (target: URL, { range, telemetry }: Gate): StreamedResult | undefined => {
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
