/** Prompts for a line, or for a secret without echo. A pipe supplies its first line. */
import { createInterface } from 'node:readline/promises';
import { Writable } from 'node:stream';
import { failure } from './failure.ts';
import type { Host } from './host.ts';

const pipedBytesMax = 64 * 1024;
const silent = (): Writable => new Writable({ write: (_chunk, _encoding, done) => done() });

export const askLine = async ({ stdin, stderr }: Host, question: string): Promise<string> => {
  const reader = createInterface({ input: stdin, output: stderr, terminal: true });
  try {
    return (await answered(reader, question)).trim();
  } finally {
    reader.close();
  }
};

export const askSecret = async (host: Host, question: string): Promise<string> => {
  if (host.stdin.isTTY !== true) return (await readPiped(host)).split('\n')[0]?.trim() ?? '';
  host.stderr.write(question);
  // Readline echoes to its output, so an output that discards everything hides the secret.
  const reader = createInterface({ input: host.stdin, output: silent(), terminal: true });
  try {
    return (await answered(reader, '')).trim();
  } finally {
    reader.close();
    host.stderr.write('\n');
  }
};

/** Rejects at Ctrl-C and at the end of the input. */
const answered = (reader: ReturnType<typeof createInterface>, question: string): Promise<string> =>
  new Promise((resolve, reject) => {
    const refuse = (): void => reject(failure('interrupted', 'no input', { exitCode: 130 }));
    reader.once('SIGINT', refuse).once('close', refuse);
    reader.question(question).then(resolve, reject);
  });

/** Reads a small piped input completely. */
export const readPiped = async ({ stdin }: Host, bytesMax = pipedBytesMax): Promise<string> => {
  const chunks: Buffer[] = [];
  let bytes = 0;
  for await (const chunk of stdin) {
    const piece = Buffer.from(chunk as Uint8Array);
    bytes += piece.length;
    if (bytes > bytesMax) throw failure('payload_too_large', `the input exceeds ${bytesMax} bytes`);
    chunks.push(piece);
  }
  return Buffer.concat(chunks).toString('utf8');
};
