import { afterEach, beforeEach, expect, test, vi } from 'vitest';
// Before a page is there, which it would draw on.
import 'vue';

/** Requests that the server got, and the answers that it holds back, by route. */
let asked: string[];
let answers: Record<string, Promise<Response>>;

const answerOf = (route: string): object => {
  if (route.endsWith('/access')) return { scope: 'admin', may: ['own:read', 'own:write'] };
  return route.endsWith('/auth') ? { login: false, signedIn: false } : { id: 's1', accepted: true };
};

beforeEach(() => {
  asked = [];
  answers = {};
  const stored = new Map<string, string>();
  vi.stubGlobal('sessionStorage', {
    getItem: (key: string) => stored.get(key) ?? null,
    setItem: (key: string, value: string) => stored.set(key, value),
    removeItem: (key: string) => stored.delete(key),
  });
  vi.stubGlobal('location', { origin: 'http://x.example', hash: '', pathname: '/', search: '' });
  vi.stubGlobal('document', { addEventListener: () => undefined, visibilityState: 'visible' });
  vi.stubGlobal('addEventListener', () => undefined);
  // The sign-out of one test is not that of another tab in the next.
  vi.stubGlobal(
    'BroadcastChannel',
    class {
      addEventListener = () => undefined;
      postMessage = () => undefined;
      close = () => undefined;
    },
  );
  vi.stubGlobal('fetch', (url: string, { method, body }: RequestInit) => {
    const route = `${method} ${url.replace('http://x.example', '')}`;
    asked.push(typeof body === 'string' ? `${route} ${body}` : route);
    return answers[route] ?? Promise.resolve(Response.json(answerOf(route)));
  });
});
afterEach(() => void vi.unstubAllGlobals());

/** Loaded when the page is there, which these modules look at; signed in. */
const load = async () => {
  const modules = {
    ...(await import('../../access/access.ts')),
    ...(await import('../../access/remembered.ts')),
    ...(await import('../../session/drafts.ts')),
    ...(await import('./first-message.ts')),
  };
  modules.startAccess();
  await modules.signInWith('sp_x');
  asked = [];
  return modules;
};
const held = () => Promise.withResolvers<Response>();
const refusal = (): Response =>
  Response.json({ error: { code: 'rate_limited', message: 'Too many.' } }, { status: 429 });
const messageOf = (line: string | undefined): object => JSON.parse(line?.slice(line.indexOf('{')) ?? '{}');

test('a first message whose page is left goes to its session without a navigation', async () => {
  const { firstMessage, rememberedUnsent, rememberedDrafts, setDraft, draftOf } = await load();
  const made = held();
  answers['POST /api/sessions'] = made.promise;
  const opened: string[] = [];
  firstMessage.enter(async (id) => opened.push(id));
  setDraft('', 'do it');
  const sending = firstMessage.send('do it');
  expect(draftOf('')).toBe('');
  expect([...rememberedDrafts().values()]).toEqual(['do it']);
  firstMessage.leave();
  firstMessage.drop();
  made.resolve(Response.json({ id: 's1' }));
  await sending;
  expect(opened).toEqual([]);
  expect(asked.map((line) => line.split(' {')[0])).toEqual([
    'POST /api/sessions',
    'POST /api/sessions/s1/messages',
  ]);
  expect(messageOf(asked[1])).toEqual({ text: 'do it', messageId: expect.any(String) });
  expect(rememberedUnsent('s1')).toEqual([]);
  expect([...rememberedDrafts()]).toEqual([]);
});

test('a first message of the page that is shown is followed to its session', async () => {
  const { firstMessage, setDraft } = await load();
  const opened: string[] = [];
  firstMessage.enter(async (id) => opened.push(id));
  setDraft('', 'do it');
  await firstMessage.send('do it');
  expect(opened).toEqual(['s1']);
});

test('a first message that was refused after its page was left is in the box again, with its choices', async () => {
  const { firstMessage, setDraft, draftOf, rememberedDrafts } = await load();
  const made = held();
  answers['POST /api/sessions'] = made.promise;
  firstMessage.enter(async () => undefined);
  firstMessage.options.value.approvals = 'never';
  setDraft('', 'do it');
  const sending = firstMessage.send('do it');
  firstMessage.leave();
  firstMessage.drop();
  setDraft('', 'then this');
  made.resolve(refusal());
  await sending;
  expect(draftOf('')).toBe('do it\nthen this');
  expect([...rememberedDrafts().keys()]).toEqual(['']);
  expect([firstMessage.hasChoices(), firstMessage.error.value]).toEqual([true, expect.any(Error)]);
  firstMessage.drop();
  expect([firstMessage.hasChoices(), firstMessage.error.value]).toEqual([false, undefined]);
  setDraft('', '');
});

test('files go with a message whose page is left, and a failed one keeps it back', async () => {
  const { firstMessage, setDraft, draftOf } = await load();
  const made = held();
  answers['POST /api/sessions'] = made.promise;
  firstMessage.enter(async () => undefined);
  firstMessage.attachments.add([new File(['a'], 'a.txt')]);
  setDraft('', 'read it');
  const sending = firstMessage.send('read it');
  firstMessage.leave();
  firstMessage.drop();
  made.resolve(Response.json({ id: 's1' }));
  await sending;
  const [path] = firstMessage.attachments.rows.value.map((row) => row.path);
  const upload = asked.find((line) => line.startsWith('PUT') || line.includes('/files'));
  expect(upload).toContain('/api/sessions/s1/');
  const last = messageOf(asked.findLast((line) => line.startsWith('POST /api/sessions/s1/messages')));
  expect([path, last]).toEqual([
    undefined,
    {
      text: 'read it',
      messageId: expect.any(String),
      attachments: [{ path: expect.stringMatching(/-a\.txt$/) }],
    },
  ]);
  expect(draftOf('')).toBe('');
});

test('files that a reload or another page lost are named until others are attached, or the message is sent', async () => {
  const { firstMessage, rememberedFiles, rememberFiles, setDraft } = await load();
  const { attachments } = firstMessage;
  const { lost } = attachments;
  const file = (name: string) => new File(['a'], name);
  attachments.add([file('a.txt'), file('b.png')]);
  expect(rememberedFiles('')).toEqual(['a.txt', 'b.png']);
  setDraft('', 'read them');
  firstMessage.drop();
  expect([lost.value, rememberedFiles('')]).toEqual([
    ['a.txt', 'b.png'],
    ['a.txt', 'b.png'],
  ]);
  attachments.add([file('a.txt')]);
  expect([lost.value, rememberedFiles('')]).toEqual([[], ['a.txt']]);
  firstMessage.drop();
  firstMessage.enter(async () => undefined);
  setDraft('', 'without them');
  await firstMessage.send('without them');
  expect([lost.value, rememberedFiles('')]).toEqual([[], []]);
  rememberFiles('', ['c.txt']);
  vi.resetModules();
  const { firstMessage: after, signOut } = await load();
  expect(after.attachments.lost.value).toEqual(['c.txt']);
  signOut();
  expect([after.attachments.lost.value, rememberedFiles('')]).toEqual([[], []]);
});

test('a message that its session did not get is sent when that is opened', async () => {
  const { firstMessage, setDraft, rememberedUnsent, draftOf } = await load();
  answers['POST /api/sessions/s1/messages'] = Promise.resolve(refusal());
  firstMessage.leave();
  setDraft('', 'do it');
  await firstMessage.send('do it');
  expect(rememberedUnsent('s1')).toMatchObject([{ text: 'do it' }]);
  expect(draftOf('')).toBe('');
});

test('a sign-out forgets a first message that is on its way', async () => {
  const { firstMessage, setDraft, draftOf, rememberedDrafts, signOut } = await load();
  const made = held();
  answers['POST /api/sessions'] = made.promise;
  firstMessage.enter(async () => undefined);
  setDraft('', 'a secret');
  const sending = firstMessage.send('a secret');
  signOut();
  made.resolve(Response.json({ id: 's1' }));
  await sending;
  expect(asked).toHaveLength(1);
  expect([draftOf(''), [...rememberedDrafts()]]).toEqual(['', []]);
});

/** A first message whose file could not be uploaded: its session `s1` is made, and has no message. */
const withFailedFile = async () => {
  const page = await load();
  const { firstMessage } = page;
  firstMessage.enter(async () => undefined);
  firstMessage.attachments.add([new File(['a'], 'a.txt')]);
  const [row] = firstMessage.attachments.rows.value;
  answers[`PUT /api/sessions/s1/files/${row?.path}`] = Promise.resolve(refusal());
  await firstMessage.send('read it');
  expect(firstMessage.attachments.rows.value).toMatchObject([{ state: 'failed' }]);
  delete answers[`PUT /api/sessions/s1/files/${row?.path}`];
  return page;
};
const sentTo = () => asked.map((line) => line.split(' {')[0]?.replace(/files\/.*/, 'files'));

test('a choice that is made after a failed upload is that of the session which gets the message', async () => {
  const { firstMessage, setDraft } = await withFailedFile();
  asked = [];
  firstMessage.options.value.approvals = 'ask';
  answers['POST /api/sessions'] = Promise.resolve(Response.json({ id: 's2' }));
  await firstMessage.send('read it');
  expect(sentTo()).toEqual([
    'DELETE /api/sessions/s1',
    'POST /api/sessions',
    'PUT /api/sessions/s2/files',
    'POST /api/sessions/s2/messages',
  ]);
  expect(messageOf(asked[1])).toMatchObject({ approvals: 'ask' });
  setDraft('', '');
});

test('without another choice the same session gets the file and the message', async () => {
  const { firstMessage, setDraft } = await withFailedFile();
  asked = [];
  await firstMessage.send('read it');
  expect(sentTo()).toEqual(['PUT /api/sessions/s1/files', 'POST /api/sessions/s1/messages']);
  setDraft('', '');
});

test.each(['session', 'upload'])(
  'a file that is removed during the request for its %s calls the message off',
  async (during) => {
    const { firstMessage, setDraft, draftOf } = await load();
    const { attachments } = firstMessage;
    const opened: string[] = [];
    firstMessage.enter(async (id) => opened.push(id));
    attachments.add([new File(['a'], 'a.txt'), new File(['b'], 'b.txt')]);
    const [row] = attachments.rows.value;
    const [made, put] = [held(), held()];
    if (during === 'session') answers['POST /api/sessions'] = made.promise;
    else answers[`PUT /api/sessions/s1/files/${row?.path}`] = put.promise;
    setDraft('', 'read them');
    const sending = firstMessage.send('read them');
    if (during === 'upload') await vi.waitFor(() => expect(sentTo()).toContain('PUT /api/sessions/s1/files'));
    if (row) attachments.remove(row);
    made.resolve(Response.json({ id: 's1' }));
    await sending;
    expect(sentTo()).not.toContain('POST /api/sessions/s1/messages');
    expect([draftOf(''), opened, firstMessage.isSending.value]).toEqual(['read them', [], false]);
    expect(String(firstMessage.error.value)).toContain('Not sent');
    put.resolve(Response.json({}));
    await firstMessage.send('read them');
    const last = messageOf(asked.findLast((line) => line.startsWith('POST /api/sessions/s1/messages')));
    expect(last).toMatchObject({ attachments: [{ path: expect.stringMatching(/-b\.txt$/) }] });
    expect(opened).toEqual(['s1']);
    setDraft('', '');
  },
);

test('a session that got no message ends when its page is left', async () => {
  const { firstMessage, setDraft } = await withFailedFile();
  asked = [];
  firstMessage.leave();
  firstMessage.drop();
  expect(sentTo()).toEqual(['DELETE /api/sessions/s1']);
  expect(firstMessage.attachments.rows.value).toEqual([]);
  setDraft('', '');
});
