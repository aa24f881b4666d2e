/** The README's first screen, executed: it runs as it stands, and prints what it says. */
import { execFile } from 'node:child_process';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { type Server, startServer } from './server.ts';

const repository = join(import.meta.dirname, '..', '..');

let server: Server;
let transcripts: readonly string[];
beforeAll(async () => {
  server = await startServer();
  const readme = await readFile(join(repository, 'README.md'), 'utf8');
  transcripts = [...readme.matchAll(/```console\n([\s\S]*?)```/g)].map(([, text = '']) => text);
});
afterAll(() => server.stop());

const printed = (transcript = ''): readonly string[] =>
  transcript.split('\n').filter((line) => line !== '' && !line.startsWith('$ '));

/** `…` stands for what differs each time. */
const pattern = (line: string): RegExp =>
  new RegExp(
    line
      .split('…')
      .map((part) => part.replaceAll(/[.*+?^${}()|[\]\\]/g, String.raw`\$&`))
      .join('.*'),
  );

test('npm start prints what the README shows', () => {
  const output = server.output().replaceAll(server.url, 'http://127.0.0.1:4350');
  for (const line of printed(transcripts[0])) expect(output).toMatch(pattern(line));
});

test('the turn of the README runs and answers as shown', async () => {
  const [, transcript = ''] = transcripts;
  const commands = transcript.split('\n').flatMap((line) => (line.startsWith('$ ') ? [line.slice(2)] : []));
  const script = commands
    .join('\n')
    .replace('http://127.0.0.1:4350', server.url)
    .replace('.sallyport/token', join(server.home, 'token'));
  const { stdout } = await promisify(execFile)('bash', ['-c', script], { cwd: server.home });
  for (const line of printed(transcript)) expect(stdout).toMatch(pattern(line));
});
