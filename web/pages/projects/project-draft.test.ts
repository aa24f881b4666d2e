import { expect, test } from 'vitest';
import type { Project } from '#sdk/routes.ts';
import { bodyOf, changeOf, draftOf, newAgent, problemsOf } from './project-draft.ts';
import { newRule } from './project-effects.ts';

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

test('a change is of the fields that were changed, so that those another person changed stay as they are', () => {
  const draft = draftOf(project);
  expect(changeOf(draftOf(project), draft)).toEqual({});
  expect(changeOf(draftOf(project), { ...draft, description: 'x' })).toEqual({ description: 'x' });
  expect(changeOf(draftOf(project), { ...draft, approvals: '', agents: [] })).toEqual({
    approvals: null,
    agents: null,
  });
  expect(changeOf(draft, { ...draft, maxCostUsd: '' })).toEqual({ limits: { maxCostUsd: null } });
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

const rules: NonNullable<Project['effects']>['rules'] = [
  { verdict: 'refuse', touches: ['.git', 'with space, and comma'] },
  { verdict: 'approve', tools: ['write_file'], within: ['src'], removes: false, wantsHosts: false },
  { verdict: 'ask', succeeds: false, filesMax: 0, bytesMax: 1000 },
  { verdict: 'approve', tools: [], within: [], touches: [] },
  { verdict: 'approve' },
];

test('rules over effects are kept as they were, those of an agent too', () => {
  const effects = { tools: ['execute_command' as const], rules };
  const agents = [{ name: 'a', effects }];
  expect(bodyOf(draftOf({ ...project, effects, agents }))).toMatchObject({ effects, agents });
  expect(bodyOf(draftOf({ ...project, effects })).effects?.rules).toEqual(rules);
  expect(bodyOf(draftOf()).effects).toBeNull();
});

test.each([
  [{ within: 'src\n../up' }, '../up is not a path in the workspace, such as src, src/a.ts or a single dot.'],
  [{ touches: '/etc' }, '/etc is not a path in the workspace, such as src, src/a.ts or a single dot.'],
  [{ filesMax: '1.5' }, 'Enter whole numbers of files and bytes.'],
  [{ bytesMax: '-1' }, 'Enter whole numbers of files and bytes.'],
])('a rule with %j is a problem, of the project and of its agents', (part, problem) => {
  const effectRules = [newRule(), { ...newRule(), ...part }];
  expect(problemsOf({ ...draftOf(project), effectRules })).toEqual({ effectRules: `Rule 2: ${problem}` });
  const agents = [{ ...newAgent(), name: 'a', effectRules }];
  expect(problemsOf({ ...draftOf(project), agents })).toEqual({ agents: `a: Rule 2: ${problem}` });
});
