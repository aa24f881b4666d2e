/** A JSON answer in one piece. */
import type { ServerResponse } from 'node:http';

export const sendJson = (response: ServerResponse, body: object, status = 200): void => {
  response.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify(body));
};
