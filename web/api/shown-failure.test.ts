import { expect, test } from 'vitest';
import { unexpectedAnswer } from '#sdk/errors.ts';
import { shownFailure } from './request.ts';

test('a failed answer of a gateway asks no person to check a URL', () => {
  const failure = shownFailure(unexpectedAnswer('https://x.example', 'HTTP 502', { status: 502 }));
  expect(failure).toMatchObject({ status: 502, code: 'unexpected_answer' });
  expect(JSON.stringify(failure)).not.toMatch(/URL|x[.]example/);
  expect(failure).toMatchObject({ message: expect.stringContaining('HTTP 502') });
});
