/** Work with sandboxes: commands, code, processes that print, files, snapshots and forks. */
import { parsed, until } from './client.ts';
import type { SessionRecord } from './record.ts';
import { openSession, readWorkspaceFile, type Scene, type SoakSession } from './session.ts';

/** Commands and code by REST, each asked for once: a lost answer says nothing about whether it ran. */
export const commands = async (scene: Scene): Promise<SessionRecord> => {
  const { random, ask } = scene;
  const session = await openSession(scene, 'commands', { kind: 'execution' });
  for (let done = 0; done < random.int(2, 5); done += 1) {
    const mark = session.newMark();
    const command = session.leave(mark);
    const isCode = random.next() < 0.3;
    const code = `require('node:child_process').execSync(${JSON.stringify(command)}).toString()`;
    const answer = await ask.once(`/api/sessions/${session.id}/${isCode ? 'code' : 'exec'}`, {
      body: isCode ? { code, language: 'node' } : { command },
      also: [404, 409, 410],
    });
    session.noteAsked({ mark, outcome: hasRun(answer) ? 'ran' : 'unknown' });
  }
  return session.finish();
};

/** A command that did not end by itself, or that the platform refused, may have run. */
const hasRun = (answer: { readonly status: number; readonly text: string } | undefined): boolean =>
  answer?.status === 200 && !('error' in parsed<object>(answer)) && parsed<Result>(answer).exitCode !== null;

type Result = { readonly exitCode?: number | null };

const linesMax = 400;

/** A process that is not followed all along; its output is read when it has ended, from the first byte. */
export const processes = async (scene: Scene): Promise<SessionRecord> => {
  const { random, ask } = scene;
  const session = await openSession(scene, 'processes', { kind: 'execution' });
  const lines = random.int(50, linesMax);
  const command = `for i in $(seq ${lines}); do echo "line $i"; sleep 0.01; done`;
  const started = await ask(`/api/sessions/${session.id}/processes`, { body: { command } });
  const { processId } = parsed<{ readonly processId: string }>(started);
  const path = `/api/sessions/${session.id}/processes/${processId}`;
  const ended = await until(
    async () => parsed<ProcessInfo>(await ask(path)),
    ({ state }) => state !== 'running',
    `process ${processId}`,
  );
  const { text } = await ask(`${path}/output?follow=0`);
  const isLost = ended.state === 'lost' || /"(?:lost|outputLost)":true/.test(endOf(text));
  session.noteProcess({ lines, text: textOf(text), isLost });
  return session.finish();
};

type ProcessInfo = { readonly state: 'running' | 'exited' | 'lost' };

/** The last of server-sent events. */
const endOf = (events: string): string => events.trimEnd().split('\n\n').at(-1) ?? '';

/** Of server-sent events: what its `output` events hold. */
const textOf = (events: string): string =>
  events
    .split('\n\n')
    .filter((event) => /^event: output$/m.test(event))
    .map((event) => JSON.parse(/^data: (.*)$/m.exec(event)?.[1] ?? '{}') as { readonly text?: string })
    .map(({ text = '' }) => text)
    .join('');

/** Files of a moment: the fork begins with them, whatever happens to the first workspace afterwards. */
export const forks = async (scene: Scene): Promise<readonly SessionRecord[]> => {
  const { ask, random } = scene;
  const session = await openSession(scene, 'forks', { kind: 'execution' });
  const first = await writeFile(scene, session, 'first');
  const { id: snapshot } = parsed<{ readonly id: string }>(
    await ask(`/api/sessions/${session.id}/snapshots`, { body: {} }),
  );
  await writeFile(scene, session, 'second');
  const from = random.next() < 0.5 ? { snapshot } : { session: session.id };
  const fork = await openSession(scene, 'forks', { kind: 'execution', from });
  fork.noteFile({
    path: first.path,
    wanted: first.text,
    found: await readWorkspaceFile(ask, fork.id, first.path),
  });
  await writeFile(scene, fork, 'own');
  await ask(`/api/sessions/${session.id}/snapshots/${snapshot}`, { method: 'DELETE', also: [404] });
  const found = await readWorkspaceFile(ask, session.id, first.path);
  session.noteFile({ path: first.path, wanted: first.text, found });
  return [await fork.finish(), await session.finish()];
};

const writeFile = async (
  { ask, random }: Scene,
  { id }: SoakSession,
  path: string,
): Promise<{ readonly path: string; readonly text: string }> => {
  const text = `${path} ${random.next()} `.repeat(random.int(1, 2000));
  await ask(`/api/sessions/${id}/files/${path}`, { method: 'PUT', body: text });
  return { path, text };
};
