/** Bodies of the REST API that must not be taken. */
import { expect, test } from 'vitest';
import { decode } from '../decode.ts';
import { connectionQuery } from '../socket-actions.ts';
import { createSessionBody, eventsQuery, listQuery } from './bodies.ts';
import { filesQuery } from './file-view.ts';
import { inputQuery, outputQuery, signalBody } from './process-view.ts';
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

test.each([
  ['include_children', eventsQuery],
  ['archived', listQuery],
  ['recursive', filesQuery],
  ['follow', outputQuery],
  ['eof', inputQuery],
  ['approvals', connectionQuery],
])('the flag %s of a query is written with a digit or as a word', (name, schema) => {
  const read = (value: string) => {
    const result = decode<typeof schema>(schema, { [name]: value });
    return result.ok ? (result.value as Record<string, unknown>)[name] : result.problem;
  };
  expect(['1', 'true', '0', 'false'].map(read)).toEqual([true, true, false, false]);
  expect(read('maybe')).toMatch(new RegExp(`^${name}: must be one of`));
});

test('sessions are listed by their kind, of which there are two', () => {
  const kindOf = (kind: string) => decode(listQuery, { kind });
  expect(kindOf('agent')).toMatchObject({ ok: true, value: { kind: 'agent' } });
  expect(kindOf('agents')).toMatchObject({ ok: false, problem: expect.stringMatching(/^kind: /) });
});

test.each(['SIGTERM', 'TERM', 'sigterm', 'term'])('a signal may be written %s', (signal) => {
  expect(decode(signalBody, { signal })).toEqual({ ok: true, value: { signal: 'SIGTERM' } });
});

test.each(['SIG', '', 'SIGSIGTERM', 15, null])('%j is no signal', (signal) => {
  expect(decode(signalBody, { signal })).toMatchObject({ ok: false });
});
