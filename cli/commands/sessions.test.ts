import { expect, test } from 'vitest';
import { waitingLines } from './sessions.ts';

test('what waits is shown whole, with the command that allows the first', () => {
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

test('nothing is said when nothing waits', () => {
  expect(waitingLines('id-1', [])).toEqual([]);
});
