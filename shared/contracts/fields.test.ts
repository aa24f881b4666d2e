/** Every name that a client may give: one with a character that is obeyed instead of shown is refused, and its field named. */

import { expect, test } from 'vitest';
import type * as z from 'zod';
import { validateServer } from '#shared/domain/mcp/validate.ts';
import { validateSchedule } from '#shared/domain/schedule/validate.ts';
import { decode } from './decode.ts';
import { filePathProblem, givenQuery, queryFlag } from './fields.ts';
import { createSessionBody, createTokenBody, createWorkspaceBody } from './rest/bodies.ts';
import { createProjectBody, updateProjectBody } from './rest/project-bodies.ts';
import { restNames } from './rest/schedule-bodies.ts';
import { createProjectArguments, updateProjectArguments } from './tools/project-tool.ts';
import { messageArguments, spawnArguments } from './tools/session-tool/converse.ts';
import { createTokenArguments } from './tools/token-tool.ts';

const hidden = [
  '\0',
  '\n',
  '\u001b[31m',
  '\u007f',
  '\u0085',
  '\u009b',
  '\u061c',
  '\u200f',
  '\u202e',
  '\u2066',
];
const shown = ['a', 'Größe', 'プロジェクト', 'שלום', '🙂', "it's <b>", 'a\u00a0b'];

const problemOf = (schema: z.ZodType, value: object): string => {
  const decoded = decode(schema, value);
  return decoded.ok ? '' : decoded.problem;
};
const projectId = '0b5ff1c6-0a3f-4d0e-9d6e-6f1f7a2b3c4d';
const token = { scope: 'admin' };

const fields: readonly (readonly [string, string, (value: string) => string])[] = [
  ['a project', 'name', (name) => problemOf(createProjectBody, { name })],
  ['a project that changes', 'name', (name) => problemOf(updateProjectBody, { name })],
  ['a token', 'name', (name) => problemOf(createTokenBody, { name, ...token })],
  ['a workspace', 'externalId', (externalId) => problemOf(createWorkspaceBody, { externalId })],
  ['a workspace', 'source', (source) => problemOf(createWorkspaceBody, { source })],
  ['a session`s workspace', 'externalId', (externalId) => problemOf(createSessionBody, { externalId })],
  ['a session`s workspace', 'source', (source) => problemOf(createSessionBody, { source })],
  ['a project, by tool', 'name', (name) => problemOf(createProjectArguments, { name })],
  [
    'a project that changes, by tool',
    'name',
    (name) => problemOf(updateProjectArguments, { project_id: projectId, name }),
  ],
  ['a token, by tool', 'name', (name) => problemOf(createTokenArguments, { name, ...token })],
  [
    'a workspace, by tool',
    'external_id',
    (external_id) => problemOf(spawnArguments, { message: 'x', external_id }),
  ],
  ['a workspace, by tool', 'source', (source) => problemOf(messageArguments, { message: 'x', source })],
  [
    'a schedule',
    'name',
    (name) => {
      const valid = validateSchedule({ name }, restNames);
      return valid.ok ? '' : valid.problem;
    },
  ],
  [
    'an MCP server',
    'description',
    (description) => {
      const valid = validateServer('s', { transport: 'stdio', command: 'cat', description });
      return valid.ok ? '' : valid.problem;
    },
  ],
];

test.each(fields)('the name of %s: %s', (_what, field, problem) => {
  for (const text of hidden)
    expect([text, problem(`a${text}b`)]).toEqual([text, expect.stringContaining(field)]);
  for (const text of shown) expect([text, problem(text)]).toEqual([text, '']);
});

test.each([
  ['nothing', '', 'a path of at least one character'],
  ['a NUL', 'a\0b', 'a path without NUL characters'],
  ['half a character', 'a\ud800', 'a path without halves of characters'],
  ['two halves in the wrong order', '\udc00\ud800', 'a path without halves of characters'],
  ['4096 bytes', 'd/'.repeat(2048), 'a path of at most 4095 bytes'],
  ['more bytes than characters', 'ü/'.repeat(1400), 'a path of at most 4095 bytes'],
  ['a step of 256 bytes', `a/${'ü'.repeat(128)}/b`, 'a path with at most 255 bytes between two slashes'],
])('%s is refused', (_name, path, problem) => {
  expect(filePathProblem(path)).toBe(problem);
});

test.each([
  'a',
  '.',
  '../a',
  '/workspace//a/./b',
  `${'d/'.repeat(2047)}d`,
  'n'.repeat(255),
  '\u{1f600}',
  'a\nb\u001b',
])('%j can be a path', (path) => {
  expect(filePathProblem(path)).toBe(undefined);
});

test('a field of a query without a value counts as absent', () => {
  expect(givenQuery({ since: '', model: ' ', provider: undefined, project: 'p' })).toEqual({ project: 'p' });
  expect(givenQuery(null)).toEqual({});
});

test.each([
  ['1', true],
  ['true', true],
  ['True', true],
  ['TRUE', true],
  ['0', false],
  ['false', false],
  ['False', false],
])('the flag %s of a query is %s', (text, expected) => {
  expect(queryFlag.parse(text)).toBe(expected);
});

test('another text is no flag, and a flag that is left out has its default', () => {
  for (const text of ['yes', '2', ' 1', 'tru', true, 1])
    expect(queryFlag.safeParse(text).success).toBe(false);
  expect(queryFlag.safeParse('yes').error?.issues).toMatchObject([{ values: ['0', '1', 'false', 'true'] }]);
  expect([queryFlag.prefault('1').parse(undefined), queryFlag.optional().parse(undefined)]).toEqual([
    true,
    undefined,
  ]);
});
