/**
 * A refusal in the words of AWS: the error name the SDK turns into an exception, with its HTTP status.
 *
 * The JSON services name it in the header `x-amzn-errortype`; S3 puts it into XML and does not use `answerError`.
 */
import type { IncomingMessage, ServerResponse } from 'node:http';

export class AwsError extends Error {
  readonly status: number;
  readonly details: Readonly<Record<string, string | readonly string[]>>;

  constructor(
    status: number,
    name: string,
    details: Readonly<Record<string, string | readonly string[]>> = {},
  ) {
    super(String(details['message'] ?? details['Message'] ?? name));
    this.name = name;
    this.status = status;
    this.details = details;
  }
}

/** Runs `work`; an `AwsError` it throws becomes the answer, anything else goes on up. */
export const answerError = async (response: ServerResponse, work: () => Promise<void>): Promise<void> => {
  try {
    await work();
  } catch (cause) {
    if (!(cause instanceof AwsError)) throw cause;
    response.writeHead(cause.status, { 'content-type': 'application/json', 'x-amzn-errortype': cause.name });
    response.end(Object.keys(cause.details).length === 0 ? '' : JSON.stringify(cause.details));
  }
};

/**
 * Refuses a request that no SDK has signed. The signature itself is not checked; but a web page in a
 * browser on this machine cannot send this header to another origin, so it cannot reach these endpoints.
 */
export const refuseUnsigned = ({ headers, url = '' }: IncomingMessage): void => {
  if (headers.authorization?.startsWith('AWS4-HMAC-SHA256 ') || url.includes('X-Amz-Signature=')) return;
  throw new AwsError(403, 'MissingAuthenticationTokenException', { message: 'Missing Authentication Token' });
};
