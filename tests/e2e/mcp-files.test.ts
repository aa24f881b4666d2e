/** A file that `write_file` says is written is safe: its sandbox may die the moment after. */
import { afterEach, beforeEach, expect, test } from 'vitest';
import { type EmbeddedCloud, eventually, openEmbeddedCloud } from './embedded-cloud.ts';
import { connect, fieldsOf, type McpClient } from './mcp-clients.ts';
import { killServer } from './sandbox-processes.ts';

let cloud: EmbeddedCloud;
let client: McpClient;
beforeEach(async () => {
  cloud = await openEmbeddedCloud({ variables: { MSB_DEFAULT_FLAVOR: 'micro' } });
  client = await connect(cloud);
});
afterEach(async () => {
  await client.close();
  await cloud.stop();
});

test('a written file survives the death of its sandbox', async () => {
  const { session_id } = fieldsOf(await client.call('execute_command', { command: 'true' }));
  const [taskArn = ''] = await cloud.runningTasks();
  const file = { session_id, path: 'a/note' };
  fieldsOf(await client.call('write_file', { ...file, content: 'kept' }));
  killServer(cloud.home, taskArn);
  // Until its death is known a sandbox that does not answer is `sandbox_unavailable`: a client asks again.
  const read = await eventually(
    () => client.call('read_file', file),
    (result) => result.isError !== true,
    20_000,
  );
  expect(fieldsOf(read)['content']).toBe('kept');
  const [successor] = await cloud.runningTasks();
  expect(successor).not.toBe(taskArn);
});
