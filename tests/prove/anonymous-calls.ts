/** Calls over `/mcp` that name no session, one after the other, under the limits of a fresh installation: none is refused. */
import { rm } from 'node:fs/promises';
import { connect } from '../e2e/mcp-clients.ts';
import { startServer } from '../e2e/server.ts';
import { exactly, type Proof } from './proof.ts';

const calls = 200;

export const anonymousCalls: Proof = async (progress) => {
  const limits = { RATE_LIMIT_PER_SECOND: '10', RATE_LIMIT_BURST: '20' };
  const server = await startServer({ variables: limits });
  const client = await connect(server);
  let right = 0;
  const sessions = new Set<unknown>();
  const refusals: string[] = [];
  for (let call = 0; call < calls; call += 1) {
    const { isError, content, structuredContent } = await client.call('execute_code', {
      code: `print(${call})`,
    });
    if (isError) refusals.push(content[0]?.text ?? '');
    if (structuredContent?.['stdout'] === `${call}\n`) right += 1;
    sessions.add(structuredContent?.['session_id']);
    if (call % 50 === 49) progress(`${call + 1} calls`);
  }
  for (const refusal of refusals.slice(0, 3)) progress(refusal);
  await client.close();
  await server.stop();
  await rm(server.home, { recursive: true, force: true });
  return [
    exactly('right answers', right, calls),
    exactly('refusals', refusals.length, 0),
    exactly('sessions that were made', sessions.size, calls),
  ];
};
