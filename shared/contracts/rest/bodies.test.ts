/** Bodies of the REST API that must not be taken. */
import { expect, test } from 'vitest';
import { decode } from '../decode.ts';
import { createSessionBody } from './bodies.ts';
import { createProjectBody } from './project-bodies.ts';

test.each([
  ['a session', createSessionBody, {}],
  ['a project', createProjectBody, { name: 'p' }],
])('%s whose model has no name is refused', (_what, schema, rest) => {
  expect(decode<typeof schema>(schema, { ...rest, model: '' })).toMatchObject({
    ok: false,
    problem: expect.stringMatching(/^model: /),
  });
  expect(decode<typeof schema>(schema, rest)).toMatchObject({ ok: true });
});
