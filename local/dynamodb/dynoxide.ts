/**
 * The dynoxide process: a DynamoDB server in one binary, on a SQLite file, on loopback.
 *
 * It comes from npm for linux-x64 only. Elsewhere the start is refused with the variable that names
 * another DynamoDB, instead of a half-working replacement.
 */
import { mkdir } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { findFreePort } from '../endpoint/free-port.ts';
import { startTiedChild, type TiedChild } from '../endpoint/tied-child.ts';

export type Dynoxide = {
  readonly url: string;
  readonly pid: number | undefined;
  readonly stop: () => Promise<void>;
};

const startAttemptsMax = 3;
const answerTimeoutMs = 10_000;
const pollIntervalMs = 3;

export const startDynoxide = async (folder: string): Promise<Dynoxide> => {
  const binary = findBinary();
  await mkdir(folder, { recursive: true, mode: 0o700 });
  const database = join(folder, 'dynamodb.sqlite');
  let complaint = '';
  for (let attempt = 0; attempt < startAttemptsMax; attempt += 1) {
    const port = await findFreePort();
    const child = startTiedChild(binary, [
      '--host',
      '127.0.0.1',
      '--port',
      String(port),
      '--db-path',
      database,
    ]);
    const url = `http://127.0.0.1:${port}`;
    if (await answers(url, child)) return { url, pid: child.pid, stop: child.stop };
    await child.stop();
    complaint = child.complaint();
  }
  throw new Error(`dynoxide did not start: ${complaint || 'no answer'}`);
};

const findBinary = (): string => {
  try {
    const manifest = createRequire(import.meta.url).resolve('@dynoxide/linux-x64/package.json');
    return join(dirname(manifest), 'dynoxide');
  } catch (cause) {
    throw new Error(
      'no DynamoDB server for this platform: set AWS_ENDPOINT_URL_DYNAMODB to one (DynamoDB Local, for example)',
      { cause },
    );
  }
};

/** Any HTTP answer will do: an unsigned GET is refused, and that is an answer. */
const answers = async (url: string, child: TiedChild): Promise<boolean> => {
  let gone = false;
  void child.exited.then(() => {
    gone = true;
  });
  const deadlineAt = Date.now() + answerTimeoutMs;
  while (!gone && Date.now() < deadlineAt) {
    const answered = await fetch(url).then(
      () => true,
      () => false,
    );
    if (answered) return !gone;
    await delay(pollIntervalMs);
  }
  return false;
};
