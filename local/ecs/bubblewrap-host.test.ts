/** A start that fails before its launch, and the proof that sandboxes can start at all. */
import { chmod, mkdir, mkdtemp, readdir, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest';
import { chooseSandboxPort } from './address-proxy.ts';
import { writePrograms } from './bubblewrap.ts';
import { proveWalls, startSandbox } from './bubblewrap-host.ts';
import type { HostSettings, SandboxRequest } from './running-sandbox.ts';
import { claimIdentities } from './sandbox-identity.ts';

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

describe('the proof of the walls', () => {
  const identities = claimIdentities();
  let folder: string;
  let settings: HostSettings;
  beforeAll(async () => {
    folder = await mkdtemp(join(tmpdir(), 'walls-'));
    await chmod(folder, 0o711);
    const [tasks, programs] = [join(folder, 'tasks'), join(folder, 'programs')];
    await mkdir(tasks, { mode: 0o711 });
    await writePrograms(programs);
    settings = {
      ...{ name: 'walls', folder: tasks, programs, hierarchy: undefined, sharedVolume: undefined },
      ...{ identities, port: await chooseSandboxPort(), log: () => undefined },
    };
  });
  afterAll(async () => {
    identities.close();
    await rm(folder, { recursive: true, force: true });
  });

  test('stands where sandboxes can start, and leaves nothing', async () => {
    await proveWalls(settings);
    expect(await readdir(settings.folder)).toEqual([]);
  });

  test('a server starts with the code that was compiled for it', async () => {
    const lines: string[] = [];
    const log = (line: string) => void lines.push(line);
    const variables = { SANDBOX_BEARER_SHA256: '0'.repeat(64), NODE_DEBUG_NATIVE: 'COMPILE_CACHE' };
    const sandbox = await startSandbox(
      { ...settings, log },
      { id: 'compiled', template: 'python', cpus: 1, memoryMb: 1024, unreachableMs: 0, variables },
    );
    // The routes are loaded behind the start of the runner.
    const taken = (name: string) => lines.some((line) => line.includes(`/${name} was accepted`));
    await vi.waitFor(() => expect(['server.mjs', 'routes.mjs'].filter(taken).length).toBe(2), 20_000);
    sandbox.kill();
    await sandbox.removed;
  });

  test.runIf(process.getuid?.() === 0)('fails for what root may and its sandboxes may not', async () => {
    await chmod(folder, 0o700);
    await expect(proveWalls(settings)).rejects.toThrow('Permission denied');
    await chmod(folder, 0o711);
  });

  test('fails where the nested wall cannot be built, in the words of the program that refused', async () => {
    await writeFile(join(settings.programs, 'user.bpf'), 'no filter');
    await expect(proveWalls(settings)).rejects.toThrow(/bwrap: .*seccomp/i);
    expect(await readdir(settings.folder)).toEqual([]);
  });
});
