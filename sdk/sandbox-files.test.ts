import { expect, test } from 'vitest';
import { ApiClient } from './api-client.ts';
import { SandboxFiles } from './sandbox-files.ts';

/** The files of a session whose requests are answered one after the other, and what was asked. */
const filesOf = (answers: readonly Response[]) => {
  const asked: string[] = [];
  const left = [...answers];
  const fetch = async (url: unknown, { method }: RequestInit = {}): Promise<Response> => {
    asked.push(`${method} ${new URL(String(url)).pathname}`);
    return left.shift() ?? Response.error();
  };
  return { files: new SandboxFiles(new ApiClient({ url: 'https://x.example', fetch }), 's'), asked };
};
const refusal = (status: number, code: string) =>
  Response.json({ error: { code, message: 'no', requestId: 'r' } }, { status });
const refused = (status: number) => new Response(null, { status });

test('a path that is not there is refused with the reason, which an answer to HEAD cannot carry', async () => {
  const { files, asked } = filesOf([refused(404), refusal(404, 'file_not_found')]);
  await expect(files.stat('a/b')).rejects.toMatchObject({ status: 404, code: 'file_not_found' });
  expect(asked).toEqual(['HEAD /api/sessions/s/files/a/b', 'GET /api/sessions/s/files']);
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
