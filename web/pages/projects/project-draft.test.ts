import { expect, test } from 'vitest';
import type { Project } from '#sdk/routes.ts';
import { bodyOf, draftOf, newAgent, problemsOf } from './project-draft.ts';

const project: Project = {
  id: '7b0c5f0e-5a53-4f7e-9a0e-0d6f1e3f7a11',
  name: 'payments',
  description: 'of the shop',
  provider: 'demo',
  flavor: 'small',
  flavorsAllowed: ['micro', 'small'],
  approvals: 'medium',
  effects: { tools: ['write_file'], rules: [{ verdict: 'approve', within: ['src'], removes: false }] },
  limits: { maxRecursionDepth: 0, maxCostUsd: 2.5 },
  instructions: 'Be brief.',
  agents: [
    { name: 'reviewer', tools: ['read_file'], approvals: 'ask', effects: { rules: [{ verdict: 'refuse' }] } },
  ],
  disabledTools: ['write_file', 'session'],
  network: 'none',
  mcpNamespacing: 'prefix',
  createdAt: '2026-01-01T00:00:00.000Z',
};

test('an untouched form sends the present settings, and null for empty fields', () => {
  expect(bodyOf(draftOf(project))).toEqual({
    name: 'payments',
    description: 'of the shop',
    provider: 'demo',
    model: null,
    flavor: 'small',
    template: null,
    thinking: null,
    runtime: null,
    approvals: 'medium',
    effects: { tools: ['write_file'], rules: [{ verdict: 'approve', within: ['src'], removes: false }] },
    flavorsAllowed: ['micro', 'small'],
    limits: { maxRecursionDepth: 0, maxAgentsPerSession: null, maxCostUsd: 2.5 },
    instructions: 'Be brief.',
    agents: [
      {
        name: 'reviewer',
        tools: ['read_file'],
        approvals: 'ask',
        effects: { rules: [{ verdict: 'refuse' }] },
      },
    ],
    disabledTools: ['write_file', 'session'],
    mcpNamespacing: 'prefix',
    network: null,
  });
});

test('a new project allows every size and sends null for the rest', () => {
  expect(bodyOf({ ...draftOf(), name: ' a ' })).toMatchObject({
    name: 'a',
    flavorsAllowed: null,
    effects: null,
    instructions: null,
    agents: null,
    disabledTools: null,
  });
});

test('tools are separated by spaces, commas and lines, without duplicates', () => {
  expect(bodyOf({ ...draftOf(), disabledTools: 'a, b\nb  c' }).disabledTools).toEqual(['a', 'b', 'c']);
});

test('agents have names of their own', () => {
  const named = (...names: string[]) =>
    problemsOf({ ...draftOf(project), agents: names.map((name) => ({ ...newAgent(), name })) });
  expect(named('a', ' ')).toEqual({ agents: 'Each agent needs a name.' });
  expect(named('a', 'a ')).toEqual({ agents: 'Two agents have the same name.' });
  expect(named('a', 'b')).toEqual({});
});

test('each invalid field has its problem', () => {
  expect(problemsOf(draftOf(project))).toEqual({});
  expect(
    problemsOf({
      ...draftOf(project),
      name: ' ',
      flavor: 'large',
      maxRecursionDepth: '11',
      maxAgentsPerSession: '1.5',
      maxCostUsd: 'x',
    }),
  ).toEqual({
    name: 'Enter a name.',
    flavor: 'This size is not allowed below.',
    maxRecursionDepth: 'Enter a whole number from 0 to 10.',
    maxAgentsPerSession: 'Enter a whole number from 1 to 1000.',
    maxCostUsd: 'Enter a number from 0 to 100000.',
  });
  expect(problemsOf({ ...draftOf(project), flavor: '', flavorsAllowed: [] })).toEqual({
    flavorsAllowed: 'Allow at least one size.',
  });
});

test('a line that is no rule over effects is a problem, of the project and of its agents', () => {
  const draft = { ...draftOf(project), effectRules: 'approve within=src\n\nallow' };
  const problem = 'Rules over effects: "allow": begin with approve, ask or refuse.';
  expect(problemsOf(draft)).toEqual({ effectRules: problem });
  const agents = [{ ...newAgent(), name: 'a', effectRules: 'allow' }];
  expect(problemsOf({ ...draftOf(project), agents })).toEqual({ agents: problem });
});
