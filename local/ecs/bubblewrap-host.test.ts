/** A start that fails before its launch. */
import { mkdtemp, readdir, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { startSandbox } from './bubblewrap-host.ts';
import type { HostSettings, SandboxRequest } from './running-sandbox.ts';

test('leaves no folder, no cgroup and no user', async () => {
  const folder = await mkdtemp(join(tmpdir(), 'start-'));
  const held: string[] = [];
  const holding = (name: string) => {
    held.push(name);
    return () => void held.splice(held.indexOf(name), 1);
  };
  let release = (): void => undefined;
  const settings = {
    ...{ folder, name: 'test', programs: '/nowhere', log: () => undefined },
    // No address has it.
    port: 70_000,
    identities: {
      acquire: () => {
        release = holding('user');
        return undefined;
      },
      release: () => release(),
    },
    hierarchy: { open: () => ({ remove: async () => removeCgroup() }) },
  } as unknown as HostSettings;
  const removeCgroup = holding('cgroup');
  const request = { id: 'one', variables: {}, unreachableMs: 0 } as unknown as SandboxRequest;
  await expect(startSandbox(settings, request)).rejects.toThrow('options.port');
  expect(held).toEqual([]);
  expect(await readdir(folder)).toEqual([]);
  await rm(folder, { recursive: true });
});
