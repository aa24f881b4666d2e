/** The preparation of the MCP endpoint: once, behind an answer, and harmless when it fails. */
import { setImmediate as nextTurn } from 'node:timers/promises';
import { expect, test } from 'vitest';
import { createLog } from './logs.ts';
import { prepareOnce } from './mcp-endpoint.ts';

test('the endpoint is asked once, not before what is answered now', async () => {
  const asked: unknown[] = [];
  const prepare = prepareOnce(
    async (request) => {
      asked.push(await request.json());
      return new Response('{}');
    },
    createLog(() => undefined),
  );
  prepare('call');
  prepare('protocol');
  expect(asked).toEqual([]);
  await nextTurn();
  await nextTurn();
  const params = { name: 'execute_command', arguments: { command: 'true' } };
  expect(asked).toEqual([expect.objectContaining({ method: 'tools/call', params })]);
});

test('a failure is a line of the log', async () => {
  const lines: string[] = [];
  prepareOnce(
    () => Promise.reject(new Error('no schema')),
    createLog((line) => void lines.push(line)),
  )('protocol');
  await nextTurn();
  await nextTurn();
  expect(lines).toEqual([expect.stringContaining('no schema')]);
});
