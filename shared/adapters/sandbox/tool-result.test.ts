import { expect, test } from 'vitest';
import { toOutcome, toProgress } from './tool-result.ts';

const textOf = (text: string) => [{ type: 'text', text }];

test('a result is finished with its content, whatever the exit code', () => {
  const content = [...textOf('no such file\n'), { type: 'image', data: 'AAEC', mimeType: 'image/png' }];
  expect(toOutcome({ content, structuredContent: { exit_code: 1 } })).toEqual({
    status: 'finished',
    content,
    structured: { exit_code: 1 },
  });
});

test('a program that failed by itself is a finished call', () => {
  const result = {
    content: textOf('Traceback'),
    structuredContent: { exit_code: 1, error: { type: 'runtime_error', message: 'Traceback' } },
  };
  expect(toOutcome(result)).toEqual({
    status: 'finished',
    content: textOf('Traceback'),
    structured: { exit_code: 1, error: { type: 'runtime_error', message: 'Traceback' } },
  });
});

test('a refusal keeps its code and its message', () => {
  const text = JSON.stringify({ error: { type: 'file_not_found', message: 'there is no a.txt' } });
  expect(toOutcome({ content: textOf(text), isError: true })).toEqual({
    status: 'failed',
    code: 'file_not_found',
    message: 'there is no a.txt',
  });
});

test('a refusal keeps what the sandbox states beside it', () => {
  const text = JSON.stringify({ error: { type: 'tool_outcome_unknown', message: 'it died' } });
  const structuredContent = { server_died: true };
  expect(toOutcome({ content: textOf(text), isError: true, structuredContent })).toMatchObject({
    status: 'failed',
    structured: { server_died: true },
  });
});

test('an unknown code becomes internal_error', () => {
  const text = JSON.stringify({ error: { type: 'toString', message: 'odd' } });
  expect(toOutcome({ content: textOf(text), isError: true })).toEqual({
    status: 'failed',
    code: 'internal_error',
    message: 'odd',
  });
});

test.each(['plain words', '{"error": "text"}', '{"error": {"type": 1}}'])(
  'a refusal in another shape is an internal error with its text: %s',
  (text) => {
    expect(toOutcome({ content: textOf(text), isError: true })).toEqual({
      status: 'failed',
      code: 'internal_error',
      message: text,
    });
  },
);

test.each([
  ['execution_timeout', 'timed out after 30 s'],
  ['resource_limit_exceeded', 'out of memory: the limit is 512 MB'],
])('a call that hit %s fails and still carries its output', (type, message) => {
  const structuredContent = {
    stdout: 'step 1\n',
    stderr: 'warning\n',
    exit_code: null,
    error: { type, message },
  };
  expect(toOutcome({ content: textOf('ignored'), structuredContent })).toEqual({
    status: 'failed',
    code: type,
    message: `${message}; it had printed:\nstep 1\nwarning\n`,
    structured: structuredContent,
  });
});

test('a limit that was hit without output reports only itself', () => {
  const error = { type: 'execution_timeout', message: 'timed out after 1 s' };
  expect(toOutcome({ content: [], structuredContent: { stdout: '', stderr: '', error } })).toEqual({
    status: 'failed',
    code: 'execution_timeout',
    message: 'timed out after 1 s',
    structured: { stdout: '', stderr: '', error },
  });
});

test('output is bounded', () => {
  const error = { type: 'execution_timeout', message: 'timed out after 30 s' };
  const outcome = toOutcome({
    content: [],
    structuredContent: { stdout: 'a'.repeat(200_000), stderr: 'the end', error },
  });
  expect(outcome.status === 'failed' && outcome.message.length < 50_100).toBe(true);
  expect(outcome.status === 'failed' && outcome.message.endsWith('the end')).toBe(true);
});

test('progress is a piece of one stream, and anything else is ignored', () => {
  const piece = { stream: 'stderr', offset: 3, text: 'x' };
  expect(toProgress(piece)).toEqual(piece);
  const others = [undefined, 'text', null, { stream: 'log', offset: 0, text: '' }, { stream: 'stdout' }];
  expect(others.map(toProgress)).toEqual(others.map(() => undefined));
});

test.each([undefined, null, 'text', {}, { content: 'text' }, { content: [null] }, { content: [{}] }])(
  'what is no result of a tool is refused: %j',
  (result) => {
    expect(() => toOutcome(result)).toThrow();
  },
);
