/** Attached files as a model is shown them: the bytes of now, within bounds, and a line for each. */
import { expect, test } from 'vitest';
import { fake } from '../../../../tests/fake.ts';
import { type Attachment, attachedImageBytesMax } from '../../../domain/attachment.ts';
import type { HistoryMessage } from '../../../domain/history.ts';
import type { MessageId } from '../../../domain/ids.ts';
import type { Session } from '../../../domain/session.ts';
import type { SavedFiles } from '../../../ports/workspace-archive.ts';
import type { WorkspaceStore } from '../../../ports/workspace-store.ts';
import { showAttachments } from './show-attachments.ts';

const png = Buffer.from('iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJ', 'base64');
const image = (path: string): Attachment => ({ path, mimeType: 'image/png' });
const asked = (text: string, ...attachments: Attachment[]): HistoryMessage => ({
  ...{ role: 'user', messageId: text as MessageId, text },
  ...(attachments.length === 0 ? {} : { attachments }),
});

const open = (files: Readonly<Record<string, Buffer>>) => {
  const reads: string[] = [];
  const shown = new Map();
  const ports = {
    workspaces: fake<WorkspaceStore>({
      get: () => Promise.resolve({ checkpoint: {} } as Awaited<ReturnType<WorkspaceStore['get']>>),
    }),
    link: { fetch: () => Promise.reject(new Error('no sandbox runs')) },
    savedFiles: fake<SavedFiles>({
      fetch: (_workspace, { path }) => {
        reads.push(path);
        const bytes = files[path];
        const missing = { error: { code: 'file_not_found', message: 'no' } };
        return Promise.resolve(bytes ? new Response(bytes) : Response.json(missing, { status: 404 }));
      },
    }),
    telemetry: { warn: () => undefined } as never,
  };
  const session = { status: 'running', workspace: 'w' } as unknown as Session;
  return {
    reads,
    show: (...history: HistoryMessage[]) =>
      showAttachments(ports, history, { session, shown, signal: new AbortController().signal }),
  };
};

test('an image is shown beside a line that names it, and another file is only named', async () => {
  const { show, reads } = open({ 'a.png': png });
  const [plain, about] = await show(asked('hello'), asked('look', image('a.png'), { path: 'data.csv' }));
  expect(plain).toEqual(asked('hello'));
  expect(about).toEqual({
    role: 'user',
    messageId: 'look',
    text: 'look\n\n[Attached image "a.png"]\n[Attached file of the workspace: "data.csv"]',
    images: [{ mimeType: 'image/png', data: png.toString('base64') }],
  });
  expect(reads).toEqual(['a.png']);
});

test('a file that was deleted, or has grown, or is no image any more, is said instead of shown', async () => {
  const { show } = open({
    'large.png': Buffer.concat([png, Buffer.alloc(attachedImageBytesMax)]),
    x: Buffer.from('x'),
  });
  const [about] = await show(asked('look', image('gone.png'), image('large.png'), image('x')));
  expect(about).not.toHaveProperty('images');
  expect(about?.text.split('\n').slice(2)).toEqual([
    '[Attached image "gone.png", not shown: it is no longer in the workspace]',
    `[Attached image "large.png", not shown: it has more than ${attachedImageBytesMax} bytes]`,
    '[Attached file of the workspace: "x"]',
  ]);
});

test('a file is read once for all calls of a turn', async () => {
  const { show, reads } = open({ 'a.png': png });
  await show(asked('one', image('a.png')), asked('two', image('a.png')));
  await show(asked('one', image('a.png')));
  expect(reads).toEqual(['a.png']);
});

test('the newest images take the room of a request', async () => {
  const large = Buffer.concat([png, Buffer.alloc(3_400_000)]);
  const names = ['a', 'b', 'c', 'd'];
  const { show } = open(Object.fromEntries(names.map((name) => [name, large])));
  const told = await show(...names.map((name) => asked(name, image(name))));
  expect(told.map((message) => 'images' in message)).toEqual([false, true, true, true]);
  expect(told[0]?.text).toContain('not shown: newer images take the room');
});
