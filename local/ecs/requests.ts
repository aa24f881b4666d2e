/** The requests of the ECS endpoint: operations of the SDK, and `POST /faults`, which is ours and signed like them. */
import type { IncomingMessage, ServerResponse } from 'node:http';
import { AwsError } from '../endpoint/aws-error.ts';
import { readBody } from '../endpoint/request-body.ts';
import { decodeFaults } from './faults.ts';
import { type Cluster, operations } from './operations.ts';

const bodyBytesMax = 256 * 1024;
const targetPrefix = 'AmazonEC2ContainerServiceV20141113.';

export const answer = async (
  cluster: Cluster,
  request: IncomingMessage,
  response: ServerResponse,
): Promise<void> => {
  if (request.method === 'POST' && request.url === '/faults')
    return replaceFaults(cluster, request, response);
  const target = String(request.headers['x-amz-target'] ?? '');
  const operation = target.startsWith(targetPrefix)
    ? operations[target.slice(targetPrefix.length)]
    : undefined;
  if (operation === undefined)
    throw new AwsError(400, 'UnknownOperationException', { message: `there is no ${target} here` });
  const result = operation(cluster, JSON.parse((await bodyOf(request)) || '{}'));
  response.writeHead(200, { 'content-type': 'application/x-amz-json-1.1' });
  response.end(JSON.stringify(result));
};

const replaceFaults = async (
  { faults }: Cluster,
  request: IncomingMessage,
  response: ServerResponse,
): Promise<void> => {
  if (!request.headers['content-type']?.startsWith('application/json'))
    throw new AwsError(415, 'ClientException', { message: 'faults are application/json' });
  const decoded = decodeFaults(await bodyOf(request));
  if (!decoded.ok) throw new AwsError(400, 'ClientException', { message: decoded.problem });
  faults.replace(decoded.faults);
  response.writeHead(204).end();
};

const bodyOf = async (request: IncomingMessage): Promise<string> => {
  const body = await readBody(request, bodyBytesMax);
  if (body === undefined) throw new AwsError(413, 'ClientException', { message: 'the request is too large' });
  return body.toString();
};
