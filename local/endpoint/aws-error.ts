/**
 * A refusal in the words of AWS: the error name the SDK turns into an exception, with its HTTP status.
 *
 * The JSON services name it in the header `x-amzn-errortype`; S3 puts it into XML.
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

/** Writes a refusal as the service's clients expect it. */
export type WriteError = (request: IncomingMessage, response: ServerResponse, error: AwsError) => void;

export const writeJsonError: WriteError = (_request, response, { status, name, details }) => {
  response.writeHead(status, { 'content-type': 'application/json', 'x-amzn-errortype': name });
  response.end(Object.keys(details).length === 0 ? '' : JSON.stringify(details));
};
