/** Work of agents: turns with tools, calls that a person decides, a provider that fails, agents that start agents. */
import { until } from './client.ts';
import type { LoggedEvent, SessionRecord } from './record.ts';
import { openSession, readEvents, type Scene, type SoakSession } from './session.ts';

/** Several messages, some before the answer to the last one; each runs a command or two, or code. */
export const turns = async (scene: Scene): Promise<SessionRecord> => {
  const { random } = scene;
  const session = await openSession(scene, 'turns', { provider: 'demo', approvals: 'auto' });
  const messages = random.int(1, 4);
  for (let said = 0; said < messages; said += 1) {
    await sayScript(scene, session);
    if (random.next() < 0.7) await session.answered();
  }
  await session.answered();
  return session.finish();
};

const sayScript = async ({ random }: Scene, session: SoakSession): Promise<void> => {
  const marks = Array.from({ length: random.int(1, 2) }, session.newMark);
  const lines = marks.map((mark) => callOf(session.leave(mark), random.pick(['shell', 'slow', 'node'])));
  await session.send(lines.join('\n'), { marks });
};

const callOf = (command: string, form: 'shell' | 'slow' | 'node'): string => {
  if (form === 'shell') return `$ ${command}`;
  if (form === 'slow') return `$ sleep 0.3; ${command}; sleep 0.3`;
  const code = `require('node:child_process').execSync(${JSON.stringify(command)}).toString()`;
  return `\`\`\`node\n${code}\n\`\`\``;
};

type Asking = { readonly callId: string; readonly digest: string; readonly turnId: string };

/** A person decides each call, late enough for a fault to come before. */
export const approvals = async (scene: Scene): Promise<SessionRecord> => {
  const { ask, random } = scene;
  const session = await openSession(scene, 'approvals', { provider: 'demo', approvals: 'ask' });
  for (let said = 0; said < random.int(1, 2); said += 1) {
    const mark = session.newMark();
    const isApproved = random.next() < 0.6;
    const seen = new Set((await session.events()).map(({ index }) => index));
    await session.send(`$ ${session.leave(mark)}`, {
      marks: isApproved ? [mark] : [],
      refused: isApproved ? [] : [mark],
    });
    const isAsked = ({ index, type }: LoggedEvent) => type === 'tool:approval_required' && !seen.has(index);
    const logged = await until(session.events, (events) => events.some(isAsked), `${session.id} asks`);
    const asked = logged.filter(isAsked).map(({ data }) => data as unknown as Asking);
    for (const { callId, digest, turnId } of asked) {
      // A decision whose answer was lost is a conflict at its repetition.
      const decision = { body: { approved: isApproved, digest, turnId }, also: [404, 409] };
      await ask(`/api/sessions/${session.id}/approvals/${callId}`, decision);
    }
    await session.answered();
  }
  return session.finish();
};

/** The provider of this work is the one that fails: whatever it does, the message has one answer. */
export const failingProvider = async (scene: Scene): Promise<SessionRecord> => {
  const session = await openSession(scene, 'provider', { provider: 'anthropic', model: 'claude-sonnet-4-5' });
  for (let said = 0; said < scene.random.int(1, 3); said += 1) {
    await session.send('hello', { marks: [] });
    await session.answered();
  }
  return session.finish();
};

/** The child works in the workspace of its parent, and its answer is the result of its parent's call. */
export const children = async (scene: Scene): Promise<readonly SessionRecord[]> => {
  const session = await openSession(scene, 'children', { provider: 'demo', approvals: 'auto' });
  const marks = Array.from({ length: scene.random.int(1, 2) }, session.newMark);
  const calls = marks.map((mark) => {
    const call = { action: 'spawn', prompt: `$ ${session.leave(mark)}` };
    return `call session ${JSON.stringify(call)}`;
  });
  await session.send(calls.join('\n'), { marks: [] });
  await session.answered();
  // The call that leaves the mark is the child's; of its parent's one it is unknown whether it came so far.
  for (const mark of marks) session.noteAsked({ mark, outcome: 'unknown' });
  const ids = (await session.events())
    .filter(({ type, data }) => type === 'system' && data['kind'] === 'child_asked')
    .map(({ data }) => String(data['sessionId']));
  const logs = await Promise.all([...new Set(ids)].map((id) => readEvents(scene.ask, id)));
  const parent = await session.finish();
  return [parent, ...logs.map((events, place) => childOf(parent, { id: ids[place] ?? '', events, marks }))];
};

type Child = Pick<SessionRecord, 'id' | 'events'> & { readonly marks: readonly string[] };

/** Its marks are in its parent's workspace. */
const childOf = (parent: SessionRecord, { id, events, marks }: Child): SessionRecord => {
  const asked = events.filter(({ type, data }) => type === 'message' && data['role'] === 'user');
  const sent = asked.map(({ data }) => ({
    messageId: String(data['messageId']),
    marks: marks.filter((mark) => String(data['text']).includes(mark)),
  }));
  const isOwn = (mark: string): boolean => sent.some((one) => one.marks.includes(mark));
  return {
    ...{ id, work: 'child', sent, asked: [], events, files: [], processes: [] },
    workspaceMarks: parent.workspaceMarks.filter(isOwn),
    sharedMarks: parent.sharedMarks.filter(isOwn),
  };
};
