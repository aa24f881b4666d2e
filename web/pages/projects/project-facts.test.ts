import { expect, test } from 'vitest';
import type { Project } from '#sdk/routes.ts';
import { factGroups } from './project-facts.vue';

const project: Project = {
  id: '7b0c5f0e-5a53-4f7e-9a0e-0d6f1e3f7a11',
  name: 'payments',
  network: 'none',
  createdAt: '2026-01-01T00:00:00.000Z',
};
const inForce: NonNullable<Project['inForce']> = {
  provider: 'demo',
  model: 'demo',
  flavor: 'micro',
  template: 'python',
  approvals: 'ask',
  maxRecursionDepth: 2,
  maxAgentsPerSession: 10,
  maxCostUsd: 5,
};

const textOf = (shown: Project, name: string) => {
  const { text, isOwn } = factGroups(shown)
    .flatMap(({ facts }) => facts)
    .find((one) => one.name === name) ?? { text: 'missing' };
  return [text, isOwn];
};

test('what a project leaves open has the value of the deployment', () => {
  const shown = { ...project, inForce };
  expect(textOf(shown, 'Model')).toEqual(['demo', false]);
  expect(textOf(shown, 'Approvals')).toEqual(['ask: every call', false]);
  expect(textOf(shown, 'Thinking')).toEqual(['Model default', false]);
  expect(textOf(shown, 'Max cost per session tree')).toEqual(['$5.00', false]);
  expect(textOf(shown, 'Max nesting depth')).toEqual(['2', false]);
  expect(textOf(shown, 'Agents')).toEqual(['None', false]);
});

test('a setting of its own is marked as such, zero included', () => {
  const own: Project = {
    ...project,
    ...{ model: 'm-1', thinking: 'high', limits: { maxRecursionDepth: 0 }, inForce },
    network: { allow: ['a.org', '*.b.org'], inject: [{ host: 'a.org', header: 'x-key', secret: 'KEY' }] },
  };
  expect(textOf(own, 'Model')).toEqual(['m-1', true]);
  expect(textOf(own, 'Thinking')).toEqual(['high', true]);
  expect(textOf(own, 'Max nesting depth')).toEqual(['0', true]);
  expect(textOf(own, 'Hosts that sandboxes may reach')).toEqual(['a.org, *.b.org', true]);
  expect(textOf(own, 'Secrets added to requests')).toEqual(['KEY in x-key of a.org', true]);
});

test('a server that does not say what holds gets no guess', () => {
  expect(textOf(project, 'Max agents per session tree')).toEqual(['Deployment default', false]);
});
