/** A machine that dies with processes in its sandboxes: each is lost and said to be, and the files are those of the last save. */
import { rm } from 'node:fs/promises';
import { afterAll, expect, test } from 'vitest';
import { api } from '#sdk/routes.ts';
import { Sallyport } from '#sdk/sallyport.ts';
import { eventually } from './embedded-cloud.ts';
import { sandboxProcesses } from './sandbox-processes.ts';
import { makeHomePath, type Server, startServer } from './server.ts';

const started: Server[] = [];
afterAll(() => Promise.all(started.map((server) => server.stop())));

const begin = async (home: string) => {
  const variables = { SALLYPORT_SWEEP_SECONDS: '1', MSB_DEFAULT_FLAVOR: 'micro' };
  const server = await startServer({ home, variables });
  started.push(server);
  return { server, client: new Sallyport(server) };
};

const sandboxCount = 3;
const commands = [
  'sleep 600',
  'echo begun; cat',
  'while read line; do echo "$line" > "$line"; echo wrote; done',
];

/** Nobody sees its exit code before it is ended. */
const untilEnded = "trap 'exit 7' TERM; echo ready; while :; do sleep 0.1; done";

test('every process of a machine that died is lost, and each workspace is as it was saved last', async () => {
  const home = await makeHomePath();
  const first = await begin(home);
  const made = await Promise.all(Array.from({ length: sandboxCount }, () => first.client.sandboxes.create()));
  const ids = await Promise.all(
    made.map(async (sandbox) => {
      const processes = await Promise.all(commands.map((command) => sandbox.processes.start(command)));
      const over = await sandbox.processes.start('exit 3');
      expect(await over.wait()).toEqual({ exitCode: 3 });
      const ended = await sandbox.processes.start(untilEnded);
      for await (const { text } of ended.output()) if (text === 'ready\n') break;
      await ended.kill();
      await sandbox.files.write('saved.txt', `saved of ${sandbox.id}`);
      // No request of ours saves what a process writes.
      const [, , writer] = processes;
      await writer?.write('later.txt\n');
      for await (const { text } of writer?.output() ?? []) if (text === 'wrote\n') break;
      return [...processes, over, ended].map(({ processId }) => processId);
    }),
  );
  await first.server.kill();
  await eventually(
    () => Promise.resolve(sandboxProcesses(home)),
    (left) => left.length === 0,
  );

  const { client, server } = await begin(home);
  for (const [place, { id }] of made.entries()) {
    const sandbox = await client.sandboxes.get(id);
    const listed = await eventually(
      () => sandbox.processes.list(),
      (processes) => processes.every(({ state }) => state !== 'running'),
      60_000,
    );
    const [one, two, three, over, ended] = ids[place] ?? [];
    expect(listed.map(({ processId, state, exitCode }) => [processId, state, exitCode])).toEqual(
      expect.arrayContaining([
        ...[one, two, three].map((processId) => [processId, 'lost', undefined]),
        [over, 'exited', 3],
        [ended, 'exited', 7],
      ]),
    );
    expect(await sandbox.processes.get(one ?? '').wait()).toMatchObject({ isLost: true });
    const stops = await eventually(
      async () => {
        const { events } = await client.request(api.readEvents, { params: { id } });
        return events.filter(({ data }) => data['kind'] === 'sandbox_stopped').map(({ data }) => data);
      },
      (stopped) => stopped.length > 0,
      60_000,
    );
    expect(stops).toMatchObject([{ lostProcesses: commands.length }]);
    expect(await sandbox.files.read('saved.txt')).toBe(`saved of ${id}`);
    expect((await sandbox.files.list()).map(({ name }) => name)).toEqual(['saved.txt']);
    expect(await sandbox.exec('cat saved.txt')).toMatchObject({ stdout: `saved of ${id}` });
  }
  expect(await server.stop()).toBe(0);
  await rm(home, { recursive: true, force: true });
});
