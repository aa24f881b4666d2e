/** The correlation id of an invocation, as ports and the log have it. */
import type { Context } from 'aws-lambda';
import { expect, test } from 'vitest';
import { openLambdaRuntime } from './lambda-runtime.ts';

test('an invocation has its own id, until it follows another; the next one begins anew', async () => {
  const { correlation, handler } = openLambdaRuntime('test', 'test');
  const run = handler<readonly string[], readonly string[]>(async (ids) => {
    const had = [correlation.id()];
    for (const id of ids) {
      correlation.follow(id);
      had.push(correlation.id());
    }
    return had;
  });
  const context = (awsRequestId: string) => ({ awsRequestId }) as Context;
  expect(await run(['a message', 'another'], context('one'))).toEqual(['one', 'a message', 'another']);
  expect(await run([], context('two'))).toEqual(['two']);
});
