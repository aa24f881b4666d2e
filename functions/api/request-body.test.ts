/** Bodies that a route refuses. */
import { expect, test } from 'vitest';
import * as z from 'zod';
import type { ApiEvent } from './api-route.ts';
import { bodyOf } from './request-body.ts';

const named = z.object({ name: z.string() });
const eventOf = (bytes: Buffer) =>
  ({ body: bytes.toString('base64'), isBase64Encoded: true, headers: {} }) as ApiEvent;

test('a body in another encoding than UTF-8 is refused: its letters would be replaced without a word', () => {
  const latin = Buffer.from('{"name":"Müller"}', 'latin1');
  expect(() => bodyOf(eventOf(latin), named)).toThrow('the body is not UTF-8');
  expect(bodyOf(eventOf(Buffer.from('{"name":"Müller"}')), named)).toEqual({ name: 'Müller' });
});
