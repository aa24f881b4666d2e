/** Projects against a real DynamoDB engine. */
import { expect, test } from 'vitest';
import { makeProjectStore } from '#shared/adapters/aws/dynamo/project-store.ts';
import type { OwnerId, ProjectId } from '#shared/domain/ids.ts';
import type { Project } from '#shared/domain/project.ts';
import { onTable } from './session-fixture.ts';
import { openFileTable, openTableFixture } from './table-fixture.ts';

const fixture = openFileTable();

const store = () => makeProjectStore(fixture.table);
const defaultId = '00000000-0000-4000-8000-000000000000' as ProjectId;
const projectOf = (change: Partial<Project> = {}): Project => ({
  id: crypto.randomUUID() as ProjectId,
  owner: 'deployment' as OwnerId,
  name: 'tools',
  createdAt: 1000,
  ...change,
});

test('a project is read back as it was created', async () => {
  const small = projectOf();
  const whole = projectOf({
    description: 'what it is for',
    flavor: 'small',
    template: 'node',
    flavorsAllowed: ['micro', 'small'],
  });
  await store().create(small);
  await store().create(whole);
  expect(await store().get(small.id)).toEqual(small);
  expect(await store().get(whole.id)).toEqual(whole);
});

test('an unknown project is not found', async () => {
  expect(await store().get(crypto.randomUUID() as ProjectId)).toBeUndefined();
});

test('a project is created once', async () => {
  const project = projectOf();
  await store().create(project);
  await expect(store().create({ ...project, name: 'other' })).rejects.toThrow();
  await expect(store().create(project)).resolves.toBeUndefined();
  expect(await store().get(project.id)).toEqual(project);
});

test('the default project needs no record, and a stored one takes precedence', async () => {
  expect(await store().get(defaultId)).toEqual({
    id: defaultId,
    owner: 'deployment',
    name: 'default',
    createdAt: 0,
  });
  const stored = projectOf({ id: defaultId, name: 'house rules', flavorsAllowed: ['micro'] });
  await store().create(stored);
  expect(await store().get(defaultId)).toEqual(stored);
});

test('the projects of an owner are listed newest first, page by page, without those of others', async () => {
  const owner = crypto.randomUUID() as OwnerId;
  const made = [1, 2, 3, 4, 5].map((createdAt) => projectOf({ owner, createdAt, name: `p${createdAt}` }));
  for (const project of made) await store().create(project);
  await store().create(projectOf({ owner: 'another' as OwnerId, createdAt: 6 }));
  await onTable(fixture.table).create();
  const names: string[][] = [];
  let after: string | undefined;
  do {
    const page = await store().list(owner, { itemsMax: 2, ...(after === undefined ? {} : { after }) });
    names.push(page.projects.map(({ name }) => name));
    after = page.next;
  } while (after !== undefined);
  expect(names).toEqual([['p5', 'p4'], ['p3', 'p2'], ['p1']]);
  expect((await store().list(owner, { itemsMax: 10 })).projects).toEqual([...made].reverse());
  expect(await store().list('nobody' as OwnerId, { itemsMax: 10 })).toEqual({ projects: [] });
});

test.each([
  ['a project', () => projectOf()],
  ['the default project', () => projectOf({ id: defaultId })],
])('of %s a change is made while the fields are as they were read', async (_, made) => {
  const another = await openTableFixture();
  const { change, create, get } = makeProjectStore(another.table);
  const project = made();
  if (project.id !== defaultId) await create(project);
  const limits = { costUsdMax: 2 };
  const network = { allow: ['a.org'], inject: [{ host: 'a.org', header: 'x-key', secret: 'KEY' }] };
  const absent = { limits: undefined, network: undefined };
  expect(await change(project.id, { limits, network }, absent)).toMatchObject({ limits, network });
  expect(await change(project.id, { limits: null }, absent)).toBeUndefined();
  const other = { ...network, allow: ['b.org'] };
  expect(await change(project.id, { network: null }, { network: other })).toBeUndefined();
  expect(await get(project.id)).toMatchObject({ limits, network });
  expect(await change(project.id, { network: other }, { limits, network })).toMatchObject({ network: other });
  const cleared = await change(project.id, { limits: null }, { limits });
  expect(cleared?.limits).toBeUndefined();
  await another.close();
});

test('fields are set and removed separately', async () => {
  const { change, create, get } = store();
  const project = projectOf({ description: 'old', flavor: 'small', approvals: 'ask' });
  await create(project);
  const { description: _, ...kept } = project;
  const wanted = { ...kept, approvals: 'auto' as const, limits: { costUsdMax: 2 }, disabledTools: ['a'] };
  const changes = {
    description: null,
    approvals: 'auto',
    limits: { costUsdMax: 2 },
    disabledTools: ['a'],
  } as const;
  expect(await change(project.id, changes)).toEqual(wanted);
  await Promise.all([change(project.id, { name: 'new' }), change(project.id, { model: 'a-model' })]);
  expect(await get(project.id)).toEqual({ ...wanted, name: 'new', model: 'a-model' });
  expect(await change(crypto.randomUUID() as ProjectId, { name: 'x' })).toBeUndefined();
});

test('a change may only remove fields', async () => {
  const { change, create } = store();
  const project = projectOf({ description: 'old', flavor: 'small' });
  await create(project);
  const { description: _, ...kept } = project;
  expect(await change(project.id, { description: null, model: null })).toEqual(kept);
});

test('the default project is stored by its first change', async () => {
  const other = await openTableFixture();
  const { change, list, get } = makeProjectStore(other.table);
  const changed = { id: defaultId, owner: 'deployment', name: 'default', createdAt: 0, model: 'a-model' };
  expect(await change(defaultId, { model: 'a-model', description: null })).toEqual(changed);
  expect(await get(defaultId)).toEqual(changed);
  expect((await list('deployment' as OwnerId, { itemsMax: 5 })).projects).toEqual([changed]);
  await other.close();
});

test('a project that is marked as deleted is still there, is not changed, and may lose its mark', async () => {
  const { create, get, list, change, markDeleted, unmarkDeleted } = store();
  const project = projectOf({ owner: crypto.randomUUID() as OwnerId });
  await create(project);
  const rename = async () => (await change(project.id, { name: 'x' }))?.name;
  expect(await markDeleted(project.id, 5000)).toEqual({ project, deletedAt: 5000, isDecided: false });
  expect(await get(project.id)).toEqual(project);
  expect(await list(project.owner, { itemsMax: 5 })).toEqual({ projects: [project] });
  // Only the first caller may take its mark away; another may once the first has died.
  expect(await markDeleted(project.id, 6000)).toEqual({ project, deletedAt: 5000, isDecided: false });
  await unmarkDeleted(project.id, 6000);
  expect(await rename()).toBeUndefined();
  await unmarkDeleted(project.id, 5000);
  expect(await rename()).toBe('x');
  await markDeleted(project.id, 7000);
  expect(await rename()).toBeUndefined();
  await unmarkDeleted(project.id, 100_000);
  expect(await rename()).toBe('x');
});

test('a mark that was decided stays, and only the mark that was read is decided', async () => {
  const { create, get, list, markDeleted, unmarkDeleted, decideDeleted } = store();
  const project = projectOf({ owner: crypto.randomUUID() as OwnerId });
  await create(project);
  const marked = { project, deletedAt: 5000, isDecided: false };
  expect(await decideDeleted(marked)).toBe(false);
  expect(await markDeleted(project.id, 6000)).toEqual({ ...marked, deletedAt: 6000 });
  expect(await decideDeleted(marked)).toBe(false);
  expect(await decideDeleted({ ...marked, deletedAt: 6000 })).toBe(true);
  for (const at of [6000, 100_000]) await unmarkDeleted(project.id, at);
  expect(await get(project.id)).toBeUndefined();
  expect(await list(project.owner, { itemsMax: 5 })).toEqual({ projects: [] });
  expect(await markDeleted(project.id, 7000)).toEqual({ project, deletedAt: 6000, isDecided: true });
});

test('a deleted project is remembered as deleted only', async () => {
  const { create, get, remove, markDeleted } = store();
  const project = projectOf();
  await create(project);
  await remove(project.id, 5000);
  expect(await get(project.id)).toEqual(project);
  await markDeleted(project.id, 6000);
  await remove(project.id, 7000);
  expect(await get(project.id)).toBeUndefined();
  expect(await markDeleted(project.id, 8000)).toBeUndefined();
  await expect(create(project)).rejects.toThrow();
  expect(await onTable(fixture.table).item({ pk: `PROJECT#${project.id}`, sk: 'META' })).toEqual({
    pk: `PROJECT#${project.id}`,
    sk: 'META',
    deletedAt: 7000,
    ttl: 86_407,
  });
});
