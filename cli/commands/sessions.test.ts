import { expect, test } from 'vitest';
import { waitingLines } from './sessions.ts';

test('pending calls are shown in full, with the command that approves the first', () => {
  const long = 'x'.repeat(200);
  expect(
    waitingLines('id-1', [
      { callId: 'call-1', name: 'execute_command', args: { command: `echo ${long}\u001b[2K` } },
      { callId: 'call-2', name: 'list_files', args: {} },
    ]),
  ).toEqual([
    '',
    'Needs approval:',
    `  execute_command {"command":"echo ${long}\\u001b[2K"}`,
    '  list_files {}',
    'Decide the first with `sallyport approvals approve id-1 call-1`, or with `reject`.',
  ]);
});

test('without pending calls there is no output', () => {
  expect(waitingLines('id-1', [])).toEqual([]);
});
