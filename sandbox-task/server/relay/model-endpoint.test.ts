/** The model broker's endpoint, before anything holds its relay: calls that wait for their bodies. */
import { once } from 'node:events';
import { type ClientRequest, type IncomingMessage, request } from 'node:http';
import type { AddressInfo } from 'node:net';
import { expect, onTestFinished, test } from 'vitest';
import { brokerCallsMax } from '#shared/domain/broker/limits.ts';
import { fake } from '../../../tests/fake.ts';
import type { Log } from '../logs.ts';
import { createModelEndpoint } from './model-endpoint.ts';
import { RelayRefusal, type SandboxRelay } from './relay.ts';

const relay = fake<SandboxRelay>({
  open: async () => {
    throw new RelayRefusal({ status: 503, message: 'nobody holds it' });
  },
});

const openEndpoint = async () => {
  const server = createModelEndpoint({ relay, log: fake<Log>({ warn: () => undefined }) });
  onTestFinished(() => {
    server.close();
    server.closeAllConnections();
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  /** Resolves when the endpoint has its head, and nothing of its body. */
  const begin = async (): Promise<ClientRequest> => {
    const arrived = once(server, 'request');
    const asked = request({
      port,
      host: '127.0.0.1',
      method: 'POST',
      path: '/openai/responses',
      agent: false,
    });
    asked.on('error', () => undefined).flushHeaders();
    await arrived;
    return asked;
  };
  return begin;
};

const answerOf = async (asked: ClientRequest): Promise<readonly [number | undefined, string]> => {
  const [answer] = (await once(asked, 'response')) as [IncomingMessage];
  let text = '';
  for await (const chunk of answer) text += String(chunk);
  return [answer.statusCode, text];
};

test('a call too many is refused before its body, in the wire of its provider, until another has ended', async () => {
  const begin = await openEndpoint();
  const sending = [];
  for (let count = 0; count < brokerCallsMax; count += 1) sending.push(await begin());
  expect(await answerOf(await begin())).toEqual([429, expect.stringContaining('rate_limit_exceeded')]);
  const [first, second] = sending as [ClientRequest, ClientRequest];
  first.end('{}');
  expect(await answerOf(first)).toEqual([503, expect.stringContaining('nobody holds it')]);
  const next = await begin();
  next.end('{}');
  expect(await answerOf(next)).toEqual([503, expect.stringContaining('nobody holds it')]);
  second.destroy();
});
