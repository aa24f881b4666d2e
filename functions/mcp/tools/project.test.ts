import { expect, test } from 'vitest';
import type { OwnerId } from '#shared/domain/ids.ts';
import type { Scope } from '#shared/domain/principal.ts';
import type { Project } from '#shared/domain/project.ts';
import type { ToolContext } from '../define-tool.ts';
import { project } from './project.ts';

const id = '11111111-1111-4111-8111-111111111111';

const contextOf = (scope: Scope = 'admin') => {
  const stored: Project[] = [];
  const projects = {
    create: async (made: Project) => void stored.push(made),
    get: async (wanted: string) => stored.find((one) => one.id === wanted),
    list: async (_owner: OwnerId, { after }: { after?: string }) =>
      after === undefined ? { projects: stored, next: '1700000000000#more' } : { projects: [] },
  };
  const world = { uuid: () => id, now: () => 1_000 };
  const principal = { owner: 'deployment', scope, tokenHash: '' };
  const audited = { auditLog: { append: async () => undefined }, telemetry: { info: () => undefined } };
  const settings = {
    defaults: { provider: 'demo', model: 'a-model', flavor: 'small', template: 'python' },
    limits: { recursionDepthMax: 3, agentsPerSessionMax: 50, costUsdMax: 10 },
  };
  const ports = { projects, world, ...audited, secretNames: async () => ['A_KEY'] };
  return { ports, principal, settings } as unknown as ToolContext;
};

const shown = {
  id,
  name: 'mine',
  description: 'for tests',
  flavor: 'micro',
  template: 'node',
  flavors_allowed: ['micro', 'small'],
  created_at: '1970-01-01T00:00:01.000Z',
};

test('a project is created, shown and listed', async () => {
  const context = contextOf();
  const options = {
    name: 'mine',
    description: 'for tests',
    flavor: 'MICRO',
    template: 'node',
    flavors_allowed: ['micro', 'Small'],
  };
  expect(await project.run({ action: 'create', ...options }, context)).toEqual(shown);
  expect(await project.run({ action: 'get', project_id: id }, context)).toEqual({
    ...shown,
    secrets: ['A_KEY'],
  });
  expect(await project.run({ action: 'list', limit: 1 }, context)).toEqual({
    projects: [shown],
    next: '1700000000000#more',
  });
  expect(await project.run({ action: 'list', after: '1700000000000#more' }, context)).toEqual({
    projects: [
      { id: '00000000-0000-4000-8000-000000000000', name: 'default', created_at: '1970-01-01T00:00:00.000Z' },
    ],
  });
});

test('projects are found by a part of their name, over pages', async () => {
  const context = contextOf();
  await project.run({ action: 'create', name: 'Mine' }, context);
  const named = async (text: string) => {
    const { projects } = await project.run({ action: 'list', name_contains: text }, context);
    return (projects as { name: string }[]).map(({ name }) => name);
  };
  expect([await named('MIN'), await named('fault'), await named('x')]).toEqual([['Mine'], ['default'], []]);
});

test('the options list what can be chosen, and only the names of secrets', async () => {
  const context = contextOf();
  await project.run({ action: 'create', name: 'mine' }, context);
  const options = await project.run({ action: 'options', project_id: id }, context);
  expect(options).toMatchObject({
    defaults: { model: 'a-model', flavor: 'small', template: 'python', max_recursion_depth: 3 },
    templates: ['python', 'node'],
    token_scopes: ['admin', 'admin:ro', 'project:<uuid>', 'project:<uuid>:ro'],
    secrets: ['A_KEY'],
  });
  expect((options['flavors'] as object[])[0]).toEqual({ name: 'micro', cpus: 0.5, memory_mb: 512 });
  expect(await project.run({ action: 'options' }, context)).toMatchObject({ secrets: [] });
});

test.each([
  [{ action: 'create' }, 'invalid_request'],
  [{ action: 'create', name: 'x', flavor: 'xl' }, 'invalid_flavor'],
  [{ action: 'create', name: 'x', template: 'ruby' }, 'unsupported_language'],
  [{ action: 'get' }, 'invalid_request'],
  [{ action: 'get', project_id: 'none' }, 'project_not_found'],
  [{ action: 'list', name: 'x' }, 'invalid_request'],
  [{ action: 'list', limit: 0 }, 'invalid_request'],
  [{ action: 'options', project_id: 'none' }, 'project_not_found'],
])('%j is refused', async (input, code) => {
  await expect(project.run(input, contextOf())).rejects.toMatchObject({ code });
});

test.each([
  [{ clear: ['limits'], max_cost_usd: 5 }, 'clear: without limits, to which max_cost_usd gives a value'],
  [
    { clear: ['flavor', 'approvals'], autonomy: 'low' },
    'clear: without approvals, to which autonomy gives a value',
  ],
  [{ clear: ['network'], network: ['none'] }, 'clear: without network, to which network gives a value'],
])('a field is not cleared and given at once: %j', async (change, message) => {
  const refused = project.run({ action: 'update', project_id: id, ...change }, contextOf());
  await expect(refused).rejects.toMatchObject({ code: 'invalid_request', message });
});

test('the project of the synthetic check is not deleted', async () => {
  const project_id = '00000000-0000-4000-8000-00000000C4EC';
  const refused = project.run({ action: 'delete', project_id }, contextOf());
  await expect(refused).rejects.toMatchObject({ code: 'conflict' });
});

test('a read-only token creates none', async () => {
  const made = project.run({ action: 'create', name: 'x' }, contextOf('admin:ro'));
  await expect(made).rejects.toMatchObject({ code: 'forbidden' });
});
