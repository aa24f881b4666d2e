import { afterEach, expect, test, vi } from 'vitest';
import { effectScope } from 'vue';
import { useProjects } from '../components/session-options.ts';
import { allApprovals, allWorkspaces } from './whole-lists.ts';

afterEach(() => void vi.unstubAllGlobals());

/** Two pages of one item each, and what was asked. */
const twoPages = (list: string): readonly string[] => {
  const asked: string[] = [];
  vi.stubGlobal('location', { origin: 'http://x.example' });
  vi.stubGlobal('fetch', async (url: string) => {
    asked.push(url.replace('http://x.example/api', ''));
    return url.includes('after=')
      ? Response.json({ [list]: [{ id: 'b', name: 'Second' }] })
      : Response.json({ [list]: [{ id: 'a', name: 'First' }], next: 'a' });
  });
  return asked;
};

test('a field for a workspace offers those of each page', async () => {
  const asked = twoPages('workspaces');
  const found = await allWorkspaces('p', new AbortController().signal);
  expect(found.map(({ id }) => id)).toEqual(['a', 'b']);
  expect(asked).toEqual(['/projects/p/workspaces', '/projects/p/workspaces?after=a']);
});

test('calls that wait are told of each page', async () => {
  twoPages('approvals');
  expect(await allApprovals(new AbortController().signal)).toHaveLength(2);
});

test('a field for a project offers those of each page, and each has its name', async () => {
  twoPages('projects');
  const scope = effectScope();
  const projects = scope.run(useProjects);
  await vi.waitFor(() => expect(projects?.projects.value).toBeDefined());
  expect(projects?.options.value.map(({ label }) => label)).toEqual(['First', 'Second']);
  expect(projects?.nameOf('b')).toBe('Second');
  scope.stop();
});
