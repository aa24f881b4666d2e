import { ApiGatewayManagementApiClient } from '@aws-sdk/client-apigatewaymanagementapi';
import { expect, test } from 'vitest';
import type { ConnectionId } from '#shared/domain/ids.ts';
import { makeSockets } from './api-gateway-sockets.ts';

/** Sockets over a gateway that answers the first posts with these errors, and takes what comes after them. */
const socketsWith = (...errors: readonly string[]) => {
  let sent = 0;
  const client = new ApiGatewayManagementApiClient({ region: 'eu-central-1' });
  client.send = async () => {
    const name = errors[sent];
    sent += 1;
    if (name !== undefined) throw Object.assign(new Error(name), { name });
  };
  return { post: () => makeSockets(client).post('c' as ConnectionId, '{}'), tries: () => sent };
};

const full = 'LimitExceededException';

test.each([
  ['sent', 1, []],
  ['sent', 3, [full, full]],
  ['gone', 1, ['GoneException']],
  ['slow', 4, [full, full, full, full, full]],
] as const)('a post is %s after %i tries', async (posted, tries, errors) => {
  const gateway = socketsWith(...errors);
  expect([await gateway.post(), gateway.tries()]).toEqual([posted, tries]);
});

test('any other refusal is an error', async () => {
  await expect(socketsWith('PayloadTooLargeException').post()).rejects.toThrow('PayloadTooLarge');
});
