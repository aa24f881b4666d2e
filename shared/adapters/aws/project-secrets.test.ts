/** Secrets of projects on a real table engine and a local Secrets Manager, by the real clients. */
import { once } from 'node:events';
import { mkdtemp, readdir, readFile, rm } from 'node:fs/promises';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { inspect } from 'node:util';
import { SecretsManagerClient } from '@aws-sdk/client-secrets-manager';
import { PutCommand } from '@aws-sdk/lib-dynamodb';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import type { ProjectId } from '#shared/domain/ids.ts';
import type { ProjectSecrets } from '#shared/ports/projects.ts';
import { start } from '../../../local/secrets/start.ts';
import { openTableFixture, type TableFixture } from '../../../tests/conformance/table-fixture.ts';
import { makeSecretPointers } from './dynamo/secret-pointer.ts';
import { keys } from './dynamo/table.ts';
import { makeProjectSecrets } from './project-secrets.ts';
import { makeSecretBundles } from './secret-bundles.ts';
import type { SecretParts } from './secret-change.ts';

const prefix = 'sallyport/test/';
let fixture: TableFixture;
let project: ProjectId;
beforeAll(async () => {
  fixture = await openTableFixture();
});
afterAll(() => fixture.close());
beforeEach(() => {
  project = crypto.randomUUID() as ProjectId;
});

const opened: (() => unknown)[] = [];
afterEach(async () => {
  for (const close of opened.splice(0).reverse()) await close();
});

type Delays = { readonly invisibleMs?: number; readonly deletionMs?: number };

/** One deployment; `instance` is one instance of a function, with a memory of its own. */
const open = async (delays: Delays = {}) => {
  const folder = await mkdtemp(join(tmpdir(), 'sallyport-project-secrets-'));
  const endpoint = await start({ folder, ...delays });
  opened.push(() => rm(folder, { recursive: true, force: true }), endpoint.stop);
  let clock = 1_000_000;
  let clients = 0;
  let tableReads = 0;
  const pointers = makeSecretPointers(fixture.table);
  const parts = (): SecretParts => ({
    pointers: {
      ...pointers,
      read: (id) => {
        tableReads += 1;
        return pointers.read(id);
      },
    },
    bundles: makeSecretBundles({
      openClient: async () => {
        clients += 1;
        const client = new SecretsManagerClient({
          endpoint: endpoint.url,
          region: 'us-east-1',
          credentials: endpoint.credentials,
          maxAttempts: 1,
        });
        opened.push(() => client.destroy());
        return client;
      },
    }),
    prefix,
    now: () => clock,
  });
  return {
    ...endpoint,
    parts,
    instance: (): ProjectSecrets => makeProjectSecrets(parts()),
    pass: (milliseconds: number) => {
      clock += milliseconds;
    },
    counts: () => ({ clients, tableReads }),
    /** The contents of Secrets Manager. */
    stored: async (): Promise<readonly { readonly name: string; readonly text: string }[]> =>
      Promise.all(
        (await readdir(folder)).map(async (file) => JSON.parse(await readFile(join(folder, file), 'utf8'))),
      ),
  };
};

test('values are read by name, listed by name, replaced and removed', async () => {
  const { instance, stored } = await open();
  const secrets = instance();
  await secrets.put(project, 'B', 'first');
  await secrets.put(project, 'A', 'ä\n"');
  await secrets.put(project, 'B', 'second');
  expect(await secrets.names(project)).toEqual(['A', 'B']);
  expect(await secrets.read(project)).toEqual({ A: 'ä\n"', B: 'second' });
  expect(await stored()).toEqual([
    expect.objectContaining({ name: expect.stringMatching(`^${prefix}${project}/[0-9a-f-]{36}$`) }),
  ]);
  expect(await secrets.remove(project, 'A')).toBe(true);
  expect(await secrets.remove(project, 'A')).toBe(false);
  expect(await instance().read(project)).toEqual({ B: 'second' });
});

test('removed values are deleted, and the last one leaves no cost', async () => {
  const { instance, stored } = await open();
  const secrets = instance();
  await secrets.put(project, 'A', 'the first value');
  await secrets.put(project, 'B', 'the other value');
  await secrets.remove(project, 'A');
  expect(JSON.stringify(await stored())).not.toContain('the first value');
  await secrets.remove(project, 'B');
  expect(await stored()).toEqual([]);
  expect([await secrets.names(project), await secrets.read(project)]).toEqual([[], {}]);
  await secrets.put(project, 'A', 'again');
  expect(await secrets.read(project)).toEqual({ A: 'again' });
});

test('projects do not see each other’s secrets', async () => {
  const secrets = (await open()).instance();
  await secrets.put(project, 'A', 'mine');
  expect(await secrets.read(crypto.randomUUID() as ProjectId)).toEqual({});
});

test('twenty concurrent writes in four instances lose no value', async () => {
  const { instance, stored } = await open();
  const instances = Array.from({ length: 4 }, instance);
  const names = Array.from({ length: 20 }, (_, index) => `S${index}`);
  await Promise.all(names.map((name, index) => instances[index % 4]?.put(project, name, `value of ${name}`)));
  expect(await instance().read(project)).toEqual(
    Object.fromEntries(names.map((name) => [name, `value of ${name}`])),
  );
  expect(await instance().names(project)).toEqual(names.toSorted());
  expect(await stored()).toHaveLength(1);
});

test('of concurrent writes of one name, one is the first', async () => {
  const { instance } = await open();
  const instances = Array.from({ length: 8 }, instance);
  const write = () => Promise.all(instances.map((secrets) => secrets.put(project, 'A', 'a')));
  expect((await write()).filter((isNew) => isNew)).toHaveLength(1);
  expect((await write()).filter((isNew) => isNew)).toHaveLength(0);
});

test('of concurrent removals of one value, one succeeds', async () => {
  const { instance, stored } = await open();
  await instance().put(project, 'A', 'a');
  const removed = await Promise.all(Array.from({ length: 6 }, () => instance().remove(project, 'A')));
  expect(removed.filter((isRemoved) => isRemoved)).toHaveLength(1);
  expect(await stored()).toEqual([]);
});

test('readers get a consistent set of values while others write', async () => {
  const { instance } = await open();
  const writer = instance();
  await writer.put(project, 'N', '0');
  const writing = (async () => {
    for (let n = 1; n <= 15; n += 1) await writer.put(project, 'N', String(n));
  })();
  const seen: number[] = [];
  for (let n = 0; n < 30; n += 1) seen.push(Number((await instance().read(project))['N']));
  await writing;
  expect(seen).toEqual(seen.toSorted((a, b) => a - b));
  expect(await instance().read(project)).toEqual({ N: '15' });
});

test('readers and writers wait for a bundle that Secrets Manager does not find yet', async () => {
  const { instance } = await open({ invisibleMs: 250 });
  await instance().put(project, 'A', 'a');
  expect(await instance().read(project)).toEqual({ A: 'a' });
  await instance().put(project, 'B', 'b');
  await instance().put(project, 'C', 'c');
  expect(await instance().read(project)).toEqual({ A: 'a', B: 'b', C: 'c' });
});

describe('cached for a minute', () => {
  test('are the values; an instance’s own writes are visible at once', async () => {
    const { instance, pass } = await open();
    const [reader, writer] = [instance(), instance()];
    await writer.put(project, 'A', 'first');
    expect(await reader.read(project)).toEqual({ A: 'first' });
    await writer.put(project, 'A', 'second');
    expect(await writer.read(project)).toEqual({ A: 'second' });
    pass(59_999);
    expect(await reader.read(project)).toEqual({ A: 'first' });
    pass(1);
    expect(await reader.read(project)).toEqual({ A: 'second' });
  });

  test('is also their absence: Secrets Manager is not called, and the table once', async () => {
    const { instance, counts } = await open();
    const secrets = instance();
    await Promise.all([secrets.read(project), secrets.read(project)]);
    expect(await secrets.read(project)).toEqual({});
    expect(counts()).toEqual({ clients: 0, tableReads: 1 });
  });

  test('is never a failure', async () => {
    const cloud = await open();
    await cloud.instance().put(project, 'A', 'a');
    const parts = cloud.parts();
    let isDown = true;
    const secrets = makeProjectSecrets({
      ...parts,
      bundles: {
        ...parts.bundles,
        find: (name) => (isDown ? Promise.reject(new Error('down')) : parts.bundles.find(name)),
      },
    });
    await expect(secrets.read(project)).rejects.toThrow('down');
    isDown = false;
    expect(await secrets.read(project)).toEqual({ A: 'a' });
  });
});

describe('a writer that dies', () => {
  const dead = (): Promise<never> => Promise.reject(new Error('dead'));
  type Death = (parts: SecretParts) => SecretParts;
  /** From a step on nothing it does happens any more; `after`: the step itself still did. */
  const dying = (parts: SecretParts, when: 'create' | 'commit' | 'remove', after: boolean): SecretParts => {
    const { pointers, bundles } = parts;
    const step =
      <A extends readonly unknown[], R>(work: (...args: A) => Promise<R>) =>
      async (...args: A): Promise<R> => {
        if (after) await work(...args);
        return dead();
      };
    return {
      ...parts,
      bundles: {
        ...bundles,
        ...(when === 'create' ? { create: step(bundles.create) } : {}),
        remove: when === 'remove' ? step(bundles.remove) : dead,
      },
      pointers: {
        ...pointers,
        ...(when === 'commit' ? { commit: step(pointers.commit) } : {}),
        release: dead,
        cleared: dead,
      },
    };
  };

  test.each<[string, Death, string]>([
    ['before it has made a bundle', (parts) => dying(parts, 'create', false), 'old'],
    ['with a bundle made', (parts) => dying(parts, 'create', true), 'old'],
    ['before it has committed', (parts) => dying(parts, 'commit', false), 'old'],
    ['with its bundle committed', (parts) => dying(parts, 'commit', true), 'new'],
    ['before it has deleted the old one', (parts) => dying(parts, 'remove', false), 'new'],
    ['with the old one deleted', (parts) => dying(parts, 'remove', true), 'new'],
  ])('%s has written all or nothing, and the next one clears up', async (_, die, value) => {
    const cloud = await open();
    await cloud.instance().put(project, 'A', 'old');
    await expect(makeProjectSecrets(die(cloud.parts())).put(project, 'A', 'new')).rejects.toThrow();
    expect(await cloud.instance().read(project)).toEqual({ A: value });
    cloud.pass(20_001);
    await cloud.instance().put(project, 'B', 'b');
    expect(await cloud.instance().read(project)).toEqual({ A: value, B: 'b' });
    expect(await cloud.stored()).toHaveLength(1);
  });

  test('does not keep a removed value: the next request deletes it', async () => {
    const cloud = await open();
    await cloud.instance().put(project, 'A', 'a');
    const dyingWriter = makeProjectSecrets(dying(cloud.parts(), 'remove', false));
    await expect(dyingWriter.remove(project, 'A')).rejects.toThrow('could not be deleted');
    expect(await cloud.stored()).toHaveLength(1);
    cloud.pass(20_001);
    expect(await cloud.instance().remove(project, 'A')).toBe(false);
    expect(await cloud.stored()).toEqual([]);
  });

  test('of a failure releases the lock at once', async () => {
    const cloud = await open();
    const parts = cloud.parts();
    const failing = makeProjectSecrets({ ...parts, bundles: { ...parts.bundles, create: dead } });
    await expect(failing.put(project, 'A', 'a')).rejects.toThrow('dead');
    await cloud.instance().put(project, 'B', 'b');
    expect(await cloud.instance().read(project)).toEqual({ B: 'b' });
  });
});

describe('a bundle that was deleted by other means', () => {
  const openWithout = async (deletionMs: number) => {
    const cloud = await open({ deletionMs });
    const secrets = cloud.instance();
    for (const name of ['A', 'B']) await secrets.put(project, name, 'lost');
    const { pointers, bundles } = cloud.parts();
    await bundles.remove((await pointers.read(project)).current ?? '');
    return { cloud, secrets };
  };

  test('is followed by another with what is set anew', async () => {
    const { cloud, secrets } = await openWithout(0);
    await expect(cloud.instance().read(project)).rejects.toThrow('were not found');
    expect(await secrets.put(project, 'C', 'c')).toBe(true);
    expect(await cloud.instance().read(project)).toEqual({ C: 'c' });
    expect(await secrets.names(project)).toEqual(['C']);
    expect(await cloud.stored()).toHaveLength(1);
  });

  test('lets its project be deleted, by a function that may create none', async () => {
    const { cloud } = await openWithout(0);
    const parts = cloud.parts();
    const denied = (): Promise<never> => Promise.reject(new Error('AccessDenied'));
    const bundles = { ...parts.bundles, create: denied, claim: denied };
    await makeProjectSecrets({ ...parts, bundles }).clear(project);
    expect([await cloud.instance().names(project), await cloud.instance().read(project)]).toEqual([[], {}]);
    expect(await cloud.stored()).toEqual([]);
  });

  test('is not taken for one that is not found yet, nor for one whose deletion goes on', async () => {
    const slow = await open({ invisibleMs: 3_600_000 });
    await slow.instance().put(project, 'A', 'a');
    await expect(slow.instance().put(project, 'B', 'b')).rejects.toThrow('were not found');
    expect(await slow.instance().names(project)).toEqual(['A']);
    expect(await slow.stored()).toHaveLength(1);
    project = crypto.randomUUID() as ProjectId;
    const { cloud, secrets } = await openWithout(3_600_000);
    await expect(secrets.put(project, 'C', 'c')).rejects.toThrow('were not found');
    expect(await cloud.instance().names(project)).toEqual(['A', 'B']);
  });
});

test('a writer that was overtaken while it stalled loses no value of the others', async () => {
  const cloud = await open();
  await cloud.instance().put(project, 'A', 'a');
  const parts = cloud.parts();
  const asleep = Promise.withResolvers<void>();
  const awake = Promise.withResolvers<void>();
  let sleeps = 1;
  const slow = makeProjectSecrets({
    ...parts,
    bundles: {
      ...parts.bundles,
      create: async (name, secrets) => {
        if (sleeps-- > 0) {
          asleep.resolve();
          await awake.promise;
        }
        await parts.bundles.create(name, secrets);
      },
    },
  });
  const writing = slow.put(project, 'SLOW', 's');
  await asleep.promise;
  cloud.pass(20_001);
  await cloud.instance().put(project, 'QUICK', 'q');
  awake.resolve();
  await writing;
  expect(await cloud.instance().read(project)).toEqual({ A: 'a', QUICK: 'q', SLOW: 's' });
  expect(await cloud.stored()).toHaveLength(1);
});

test('a request whose acknowledgement was lost is repeated without harm', async () => {
  const cloud = await open();
  const parts = cloud.parts();
  const { take, commit } = parts.pointers;
  const twice = makeProjectSecrets({
    ...parts,
    pointers: {
      ...parts.pointers,
      take: async (hold, times) => (await take(hold, times)) && take(hold, times),
      commit: async (hold, committed) => (await commit(hold, committed)) && commit(hold, committed),
    },
  });
  await twice.put(project, 'A', 'a');
  await twice.put(project, 'B', 'b');
  expect(await twice.remove(project, 'A')).toBe(true);
  expect(await twice.remove(project, 'B')).toBe(true);
  expect(await cloud.stored()).toEqual([]);
});

test('a project over its limits is refused, and unchanged', async () => {
  const { instance } = await open();
  const secrets = instance();
  for (let n = 0; n < 7; n += 1) await secrets.put(project, `S${n}`, 'x'.repeat(8192));
  await expect(secrets.put(project, 'S7', 'x'.repeat(8192))).rejects.toMatchObject({
    code: 'resource_limit_exceeded',
    message: 'the secrets of a project have at most 60000 bytes',
  });
  for (let n = 0; n < 7; n += 1) await secrets.put(project, `S${n}`, 'x');
  for (let n = 7; n < 50; n += 1) await secrets.put(project, `S${n}`, 'x');
  await expect(secrets.put(project, 'S50', 'x')).rejects.toMatchObject({
    code: 'resource_limit_exceeded',
    message: 'a project has at most 50 secrets',
  });
  expect(await secrets.names(project)).toHaveLength(50);
});

/** A Secrets Manager that repeats what it was sent, and breaks off an answer in the middle of a value. */
const openTelltale = async (): Promise<SecretsManagerClient> => {
  const server = createServer(async (request, response) => {
    const body = await text(request);
    const isWrite = request.headers['x-amz-target'] === 'secretsmanager.CreateSecret';
    response.writeHead(isWrite ? 400 : 200, { 'content-type': 'application/x-amz-json-1.1' });
    const echoed = JSON.stringify({ __type: 'ValidationException', message: `bad value: ${body}` });
    response.end(isWrite ? echoed : '{"SecretString": hunter1');
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const client = new SecretsManagerClient({
    endpoint: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    region: 'us-east-1',
    credentials: { accessKeyId: 'local', secretAccessKey: 'local' },
    maxAttempts: 1,
  });
  opened.push(
    () => client.destroy(),
    () => server.close(),
  );
  return client;
};

test('a failure names its kind and never a value, at any depth of printing', async () => {
  const cloud = await open();
  const stored = crypto.randomUUID() as ProjectId;
  await cloud.instance().put(stored, 'OLD', 'hunter1');
  const bundles = makeSecretBundles({ openClient: openTelltale });
  const secrets = makeProjectSecrets({ ...cloud.parts(), bundles });
  const failureOf = (attempt: Promise<unknown>) =>
    attempt.then(
      () => undefined,
      (cause: unknown) => cause,
    );
  const failures = [
    await failureOf(secrets.put(project, 'A', 'hunter2')),
    await failureOf(secrets.read(stored)),
  ];
  expect(failures).toMatchObject([
    { code: 'internal_error', message: 'could not store the secrets of a project' },
    { code: 'internal_error', message: 'could not read the secrets of a project' },
  ]);
  expect(inspect(failures, { depth: 20, showHidden: true })).not.toMatch(/hunter/);
});

describe('in a project that is being deleted (WS5)', () => {
  const mark = async (): Promise<void> => {
    const { client, name: TableName } = fixture.table;
    await client.send(new PutCommand({ TableName, Item: { ...keys.project(project), deletedAt: 1 } }));
  };

  test('nothing is put, and what there is is cleared', async () => {
    const cloud = await open();
    await cloud.instance().put(project, 'A', 'a');
    await mark();
    const secrets = cloud.instance();
    await expect(secrets.put(project, 'B', 'b')).rejects.toMatchObject({ code: 'project_not_found' });
    expect(await secrets.names(project)).toEqual(['A']);
    await secrets.clear(project);
    await expect(secrets.put(project, 'B', 'b')).rejects.toMatchObject({ code: 'project_not_found' });
    expect([await secrets.names(project), await cloud.stored()]).toEqual([[], []]);
  });

  test('a value whose writer began before that is cleared', async () => {
    const cloud = await open();
    const parts = cloud.parts();
    const writer = makeProjectSecrets({
      ...parts,
      bundles: {
        ...parts.bundles,
        create: async (...bundle) => {
          await parts.bundles.create(...bundle);
          await mark();
        },
      },
    });
    await Promise.all([writer.put(project, 'A', 'a'), cloud.instance().clear(project)]);
    await cloud.instance().clear(project);
    expect([await cloud.instance().names(project), await cloud.stored()]).toEqual([[], []]);
  });
});
