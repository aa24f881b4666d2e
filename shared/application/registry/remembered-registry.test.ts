/** The registry as the holder of a turn reads it: once in a while, and after each call to one of its servers. */
import { expect, test } from 'vitest';
import type { ProjectId } from '../../domain/ids.ts';
import type { McpServer } from '../../domain/mcp/server.ts';
import type { McpServerStore } from '../../ports/mcp-servers.ts';
import { registryAgeMsMax, rememberedRegistry } from './remembered-registry.ts';

const project = 'p' as ProjectId;

/** Of the store, only what a turn reads; a failure is thrown by the next read alone. */
const counted = () => {
  const clock = { now: 1000 };
  const reads = { lists: 0, gets: 0 };
  const fails: unknown[] = [];
  const server = { name: 'library' } as McpServer;
  const store = {
    get: async () => {
      reads.gets += 1;
      return server;
    },
    list: async () => {
      reads.lists += 1;
      if (fails.length > 0) throw fails.pop();
      return [server];
    },
  } as unknown as McpServerStore;
  return { clock, reads, fails, registry: rememberedRegistry(store, { now: () => clock.now }) };
};

test('many answers of a model read the list once, until it is old', async () => {
  const { clock, reads, registry } = counted();
  for (let answer = 0; answer < 20; answer += 1) {
    expect((await registry.list(project)).map(({ name }) => name)).toEqual(['library']);
    clock.now += registryAgeMsMax / 20 - 1;
  }
  expect(reads.lists).toBe(1);
  clock.now = 1000 + registryAgeMsMax;
  await registry.list(project);
  expect(reads.lists).toBe(2);
});

test('a call to a server reads it, and the list after it', async () => {
  const { reads, registry } = counted();
  await registry.list(project);
  await registry.get(project, 'library');
  await registry.get(project, 'library');
  await registry.list(project);
  expect(reads).toEqual({ lists: 2, gets: 2 });
});

test('another project, and a list that could not be read, are read anew', async () => {
  const { reads, fails, registry } = counted();
  fails.push(new Error('throttled'));
  await expect(registry.list(project)).rejects.toThrow('throttled');
  await registry.list(project);
  await registry.list('q' as ProjectId);
  expect(reads.lists).toBe(3);
});
