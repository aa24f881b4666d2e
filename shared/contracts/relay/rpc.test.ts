import { expect, test } from 'vitest';
import { failureCodes, readRequest } from './rpc.ts';

const nested = (times: number): string => '['.repeat(times) + ']'.repeat(times);
const read = (depth: number) => {
  const line = `{"jsonrpc":"2.0","id":7,"method":"platform_call_tool","params":{"arguments":${nested(depth)}}}`;
  return readRequest(new TextEncoder().encode(line));
};

test.each([100, 20_000])(
  'parameters that are nested %i times are refused, since no end could write them anew',
  (depth) => {
    expect(read(depth)).toEqual({
      ok: false,
      id: 7,
      code: failureCodes.invalidRequest,
      problem: 'params: nested at most 68 times',
    });
  },
);

test('arguments that other requests may have pass', () => {
  expect(read(64).ok).toBe(true);
});
