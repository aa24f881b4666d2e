import { expect, test } from 'vitest';
import { newRun, runLabel, withEnd, withFailure, withOutput, withResult, withStop } from './run-box.vue';

const result = { exitCode: 0, stdout: '', stderr: '', durationMs: 5 };

test('output of a command grows, one chunk for each change of the stream', () => {
  const first = withOutput(newRun(1, 'command', 'ls'), 'stdout', 'a');
  const second = withOutput(withOutput(first, 'stdout', 'b'), 'stderr', 'c');
  expect(withOutput(second, 'stdout', '').chunks).toEqual([
    { stream: 'stdout', text: 'ab' },
    { stream: 'stderr', text: 'c' },
  ]);
});

test('the end of a long output is kept, in chunks that are not drawn again', () => {
  const piece = `${'x'.repeat(8191)}\n`;
  let run = newRun(1, 'command', 'yes');
  for (let count = 0; count < 300; count += 1) run = withOutput(run, 'stdout', piece);
  const lengths = run.chunks.map(({ text }) => text.length);
  expect(lengths.reduce((sum, length) => sum + length, 0)).toBe(1024 * 1024);
  expect(Math.max(...lengths)).toBe(16 * 1024);
});

test('the result of a command does not repeat its output', () => {
  const printed = withOutput(newRun(1, 'command', 'ls'), 'stdout', 'a');
  const ended = withResult(printed, { ...result, exitCode: 3, stdout: 'a', notices: ['Not saved.'] });
  expect(ended).toMatchObject({ state: 'failed', durationMs: 5, notices: ['Not saved.'] });
  expect(ended.chunks).toEqual([{ stream: 'stdout', text: 'a' }]);
  expect(runLabel(ended)).toBe('exit code 3');
});

test('code shows what it printed, the values of its results, and why it failed', () => {
  const results = [{ 'text/plain': '42' }, { 'image/png': 'aaaa' }];
  const run = withResult(newRun(1, 'code', '42'), { ...result, stdout: 'hello\n', results });
  expect(run).toMatchObject({
    ...{ state: 'done', chunks: [{ stream: 'stdout', text: 'hello\n' }] },
    results: [{ kind: 'text', text: '42\n' }, { kind: 'picture' }],
  });
  const error = {
    type: 'execution_timeout',
    message: 'It took too long.',
    suggestions: [],
    recoveryActions: [],
  };
  const failed = withResult(newRun(2, 'code', 'x'), { ...result, exitCode: 124, results: [], error });
  expect(failed.chunks).toEqual([{ stream: 'stderr', text: 'It took too long.\n' }]);
});

test('a command is stopped when it is known to have ended, and no sooner', () => {
  const run = newRun(1, 'command', 'sleep 9');
  const stopping = withStop(run);
  expect([run, stopping, withEnd(stopping)].map(runLabel)).toEqual(['running', 'stopping', 'stopped']);
  const refused = new Error('slow down');
  expect(withEnd(stopping, refused)).toMatchObject({
    ...{ state: 'failed', error: refused },
    notices: ['The command was not stopped. It may still be running.'],
  });
});

test('code that is left is not called stopped, since it keeps running', () => {
  const left = withStop(newRun(1, 'code', 'while True: pass'));
  expect([runLabel(left), left.notices]).toEqual([
    'not waited for',
    [expect.stringContaining('keeps running in the sandbox')],
  ]);
});

test('a result that came before the stop stays, and a failure is one', () => {
  const run = newRun(1, 'command', 'ls');
  const ended = withResult(run, result);
  expect([withStop(ended), withEnd(ended)]).toEqual([ended, ended]);
  expect(runLabel(withFailure(run, new Error('lost')))).toBe('failed');
});
