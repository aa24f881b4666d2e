/** Bodies of the REST API that must not be taken. */
import { expect, test } from 'vitest';
import type { Project } from '../../domain/project.ts';
import { decode } from '../decode.ts';
import { connectionQuery } from '../socket-actions.ts';
import { createSessionBody, eventsQuery, listQuery } from './bodies.ts';
import { filesQuery } from './file-view.ts';
import { execBody, inputQuery, outputQuery, signalBody } from './process-view.ts';
import { createProjectBody, updateProjectBody } from './project-bodies.ts';
import { projectOptionsOf, projectView } from './project-view.ts';

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

/** As many variables as there may be, of so many bytes of names and values; a value has characters of more than one byte. */
const variablesOf = (bytes: number): Readonly<Record<string, string>> => {
  const names = Array.from({ length: 63 }, (_, index) => `N${index}`);
  const left = bytes - names.join('').length - 'LAST€'.length - 2;
  return { ...Object.fromEntries(names.map((name) => [name, ''])), LAST: `€${'x'.repeat(left)}` };
};

test.each([
  ['a session', createSessionBody, {}],
  ['a program', execBody, { command: 'true' }],
])('the variables of %s have 32 KB of names and values, and not a byte more', (_what, schema, rest) => {
  const decoded = (bytes: number) => decode<typeof schema>(schema, { ...rest, env: variablesOf(bytes) });
  expect(decoded(32_768)).toMatchObject({ ok: true });
  expect(decoded(32_769)).toMatchObject({ ok: false, problem: 'env: has at most 32768 bytes' });
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

test.each<[object, object | null | undefined]>([
  [{}, undefined],
  [{ limits: { maxCostUsd: 5 } }, { costUsdMax: 5 }],
  [{ maxCostUsd: 5 }, { costUsdMax: 5 }],
  [{ maxCostUsd: 5, limits: { maxCostUsd: 5 } }, { costUsdMax: 5 }],
  [
    { maxRecursionDepth: 1, limits: { maxCostUsd: null } },
    { recursionDepthMax: 1, costUsdMax: null },
  ],
  [{ limits: null }, null],
  [{ maxCostUsd: null, limits: null }, null],
])('the limits of a project in %j are read as %j', (given, limits) => {
  const body = decode(updateProjectBody, given);
  if (!body.ok) throw new Error(body.problem);
  expect(projectOptionsOf(body.value)).toEqual(limits === undefined ? {} : { limits });
});

test.each([
  { maxCostUsd: 5, limits: { maxCostUsd: 6 } },
  { maxCostUsd: 5, limits: { maxCostUsd: null } },
  { maxCostUsd: 5, limits: null },
])('the limits of a project in %j contradict each other', (given) => {
  for (const schema of [createProjectBody, updateProjectBody])
    expect(decode<typeof schema>(schema, { name: 'p', ...given })).toMatchObject({
      ok: false,
      problem: 'maxCostUsd: must not differ from limits.maxCostUsd',
    });
});

test('a project shows its limits in both places', () => {
  const made = { id: crypto.randomUUID(), owner: 'deployment', name: 'p', createdAt: 1 } as Project;
  const limits = { maxCostUsd: 5 };
  expect(projectView({ ...made, limits: { costUsdMax: 5 } })).toMatchObject({ ...limits, limits });
  expect(projectView(made)).not.toHaveProperty('maxCostUsd');
});
