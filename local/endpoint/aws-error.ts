/**
 * A refusal as AWS sends it: the error name that the SDK turns into an exception, with its HTTP status.
 *
 * The JSON services send the name in the header `x-amzn-errortype`; S3 sends it as XML.
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

/** Writes a refusal in the form of the service. */
export type WriteError = (request: IncomingMessage, response: ServerResponse, error: AwsError) => void;

export const writeJsonError: WriteError = (_request, response, { status, name, details }) => {
  response.writeHead(status, { 'content-type': 'application/json', 'x-amzn-errortype': name });
  response.end(Object.keys(details).length === 0 ? '' : JSON.stringify(details));
};
