/** The tool `process` as its calls are read. */
import { expect, test } from 'vitest';
import { withoutAbsent } from '../absent-arguments.ts';
import { decode } from '../decode.ts';
import { agentProcessCall } from './process-tool.ts';

const read = (args: unknown) => decode(agentProcessCall(), withoutAbsent(agentProcessCall(), args));
const process_id = 'p';

test('a call with every field filled is read by its action', () => {
  const nothing = {
    offset: null,
    output_limit: null,
    wait_seconds: null,
    text: null,
    eof: null,
    signal: null,
  };
  expect(read({ action: 'kill', process_id, ...nothing })).toEqual({
    ok: true,
    value: { action: 'kill', process_id },
  });
  expect(read({ action: 'output', process_id, ...nothing })).toMatchObject({
    ok: true,
    value: { offset: 0, output_limit: 30_000, wait_seconds: 0 },
  });
});

test.each([
  ['an unknown action', { action: 'stop' }, 'action'],
  ['no process', { action: 'kill' }, 'process_id'],
  ['a signal that is none', { action: 'signal', process_id, signal: 'SIGNOTHING' }, 'signal'],
  ['too long a wait', { action: 'output', process_id, wait_seconds: 61 }, 'wait_seconds'],
])('%s is refused by name', (_, args, field) => {
  expect(read(args)).toMatchObject({ ok: false, problem: expect.stringContaining(field) });
});
