import { expect, test } from 'vitest';
import { ApiClient } from './api-client.ts';
import { Sallyport } from './sallyport.ts';
import { SandboxFiles } from './sandbox-files.ts';

/** The files of a session whose requests are answered one after the other, and what was asked. */
const filesOf = (answers: readonly Response[]) => {
  const asked: string[] = [];
  const sent: Record<string, string>[] = [];
  const left = [...answers];
  const fetch = async (url: unknown, { method, headers }: RequestInit = {}): Promise<Response> => {
    asked.push(`${method} ${new URL(String(url)).pathname}`);
    sent.push(headers as Record<string, string>);
    return left.shift() ?? Response.error();
  };
  return { files: new SandboxFiles(new ApiClient({ url: 'https://x.example', fetch }), 's'), asked, sent };
};
const refusal = (status: number, code: string) =>
  Response.json({ error: { code, message: 'no', requestId: 'r' } }, { status });
const refused = (status: number) => new Response(null, { status });

test('a path that is not there is refused with the reason, which an answer to HEAD cannot carry', async () => {
  const { files, asked } = filesOf([refused(404), refusal(404, 'file_not_found')]);
  await expect(files.stat('a/b')).rejects.toMatchObject({ status: 404, code: 'file_not_found' });
  expect(asked).toEqual(['HEAD /api/sessions/s/files/a/b', 'GET /api/sessions/s/files']);
});

test('a path exists, does not, or cannot be looked for', async () => {
  const { files } = filesOf([
    new Response(null),
    ...[refused(404), refusal(404, 'file_not_found')],
    ...[refused(404), refusal(404, 'session_not_found')],
  ]);
  expect([await files.exists('a'), await files.exists('a')]).toEqual([true, false]);
  await expect(files.exists('a')).rejects.toMatchObject({ code: 'session_not_found' });
});

test('a file that appeared since is no reason for the refusal', async () => {
  const { files } = filesOf([refused(404), refusal(400, 'invalid_request')]);
  await expect(files.stat('a')).rejects.toMatchObject({ status: 404 });
});

test('a list with fewer entries than its folder says so', async () => {
  const { files } = filesOf([Response.json({ files: [] }), Response.json({ files: [], truncated: true })]);
  let cut = 0;
  const onTruncated = (): void => {
    cut += 1;
  };
  await files.list('.', { onTruncated });
  expect(cut).toBe(0);
  await files.list('.', { onTruncated });
  expect(cut).toBe(1);
});

/** Of an answer that waited for its sandbox: the status was sent before the outcome was known. */
const late = (outcome: object): Response => new Response(`  ${JSON.stringify(outcome)}`, { status: 200 });
const lateRefusal = (code: string): Response => late({ error: { code, message: 'no', requestId: 'r' } });

test.each<[string, (files: SandboxFiles) => Promise<void>]>([
  ['write', (files) => files.write('a', 'x')],
  ['upload', (files) => files.upload('a', 'x')],
  ['mkdir', (files) => files.mkdir('a')],
  ['move', (files) => files.move('a', 'b')],
  ['copy', (files) => files.copy('a', 'b')],
  ['remove', (files) => files.remove('a')],
])('%s fails when its answer does, also after its status', async (_, change) => {
  const { files } = filesOf([lateRefusal('resource_limit_exceeded')]);
  await expect(change(files)).rejects.toMatchObject({ status: 200, code: 'resource_limit_exceeded' });
});

test('a write that met no sandbox is sent again, also when that was told after the status', async () => {
  const { files, asked } = filesOf([lateRefusal('sandbox_unavailable'), late({ size: 1 })]);
  await files.write('a', 'x');
  expect(asked).toHaveLength(2);
});

test('a part is sent when the one before was received, not when its answer began', async () => {
  const first = new TransformStream<Uint8Array, Uint8Array>();
  const { files, asked } = filesOf([new Response(first.readable), Response.json({ size: 2 })]);
  const sent: number[] = [];
  const onProgress = (bytes: number): void => void sent.push(bytes);
  const written = files.write('a', 'xy', { partBytes: 1, onProgress });
  const writer = first.writable.getWriter();
  const begun = writer.write(new TextEncoder().encode(' '));
  await new Promise((resolve) => setTimeout(resolve, 10));
  expect([asked.length, sent]).toEqual([1, []]);
  await begun;
  await writer.write(new TextEncoder().encode('{"received":1}'));
  await writer.close();
  await written;
  expect([asked.length, sent]).toEqual([2, [1, 2]]);
});

/** Some bytes, after which the connection breaks off, as fetch tells it. */
const brokenOff = (): Response => {
  const pieces = [new TextEncoder().encode('begin')];
  const pull = (controller: ReadableStreamDefaultController<Uint8Array>): void => {
    const piece = pieces.shift();
    if (piece === undefined) throw new TypeError('terminated');
    controller.enqueue(piece);
  };
  return new Response(new ReadableStream({ pull }));
};

const streams: readonly [string, (signal?: AbortSignal) => Promise<ReadableStream<Uint8Array>>][] = [
  ['read', (signal) => filesOf([brokenOff()]).files.read('a', { format: 'stream', signal })],
  ['download', (signal) => filesOf([brokenOff()]).files.download('a', { format: 'stream', signal })],
  [
    'exportAudit',
    (signal) => {
      const fetch = async (): Promise<Response> => brokenOff();
      return new Sallyport({ url: 'https://x.example', token: 't', fetch }).exportAudit({ signal });
    },
  ],
];

test.each(streams)('a stream of %s that breaks off is a lost connection', async (_, open) => {
  const reader = (await open()).getReader();
  expect(new TextDecoder().decode((await reader.read()).value)).toBe('begin');
  const cause = expect.objectContaining({ message: 'terminated' });
  await expect(reader.read()).rejects.toMatchObject({ code: 'connection_lost', status: 0, cause });
});

test.each(streams)('a stream of %s that its caller aborts has the reason of that', async (_, open) => {
  const abort = new AbortController();
  const stream = await open(abort.signal);
  abort.abort(new Error('enough'));
  await expect(new Response(stream).text()).rejects.toThrow('enough');
});

test('a stream that its reader leaves ends the answer', async () => {
  let reason: unknown;
  const cancel = (given: unknown): void => {
    reason = given;
  };
  const body = new ReadableStream({ cancel });
  const stream = await filesOf([new Response(body)]).files.read('a', { format: 'stream' });
  await stream.cancel('seen enough');
  expect(reason).toBe('seen enough');
});

const uuid = /^[\da-f]{8}(-[\da-f]{4}){3}-[\da-f]{12}$/;

test('the parts of an upload have one id, which no other upload has', async () => {
  const { files, sent } = filesOf(Array.from({ length: 6 }, () => late({})));
  await files.write('a', 'wxyz', { partBytes: 2 });
  await files.write('a', 'wxyz', { partBytes: 2 });
  await files.upload('a', 'wxyz', { partBytes: 3 });
  expect(sent.map((headers) => headers['content-range'])).toEqual([
    ...['bytes 0-1/4', 'bytes 2-3/4', 'bytes 0-1/4', 'bytes 2-3/4'],
    ...['bytes 0-2/4', 'bytes 3-3/4'],
  ]);
  const [one = '', , other = '', , archive = ''] = sent.map((headers) => headers['upload-id'] ?? '');
  expect(sent.map((headers) => headers['upload-id'])).toEqual([one, one, other, other, archive, archive]);
  expect(new Set([one, other, archive]).size).toBe(3);
  for (const id of [one, other, archive]) expect(id).toMatch(uuid);
});

test('a part that is sent again has the id of the first try', async () => {
  const { files, sent } = filesOf([late({}), lateRefusal('sandbox_unavailable'), late({})]);
  await files.write('a', 'xy', { partBytes: 1 });
  expect(new Set(sent.map((headers) => headers['upload-id'])).size).toBe(1);
  expect(sent).toHaveLength(3);
});

test.each(['', 'x'])(
  'a content that one request holds (%o) is sent once, and is no upload in parts',
  async (text) => {
    const { files, sent } = filesOf([late({})]);
    const steps: number[] = [];
    await files.write('a', text, { partBytes: 1, onProgress: (bytes) => void steps.push(bytes) });
    expect(sent).toEqual([{ 'content-type': 'application/octet-stream' }]);
    expect(steps).toEqual([text.length]);
  },
);
