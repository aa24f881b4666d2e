/** Health of a server, seen from outside: its sessions, the connections in its table, its sockets, memory and log. */
import { readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { DynamoDBClient, paginateScan } from '@aws-sdk/client-dynamodb';
import type { Endpoint } from '../../../local/endpoint/listen.ts';

const established = '01';
const closeWait = '08';

/** Connections that somebody has with the port of the server, or that it has not closed although they are gone. */
export const openSockets = async (port: number): Promise<number> => {
  const lines = (await readFile('/proc/net/tcp', 'utf8')).split('\n').slice(1);
  const local = `:${port.toString(16).toUpperCase().padStart(4, '0')}`;
  return lines.filter((line) => {
    const [, from = '', , state = ''] = line.trim().split(/\s+/);
    return from.endsWith(local) && [established, closeWait].includes(state);
  }).length;
};

export const residencyOf = async (
  pid: number,
): Promise<{ readonly residentMb: number; readonly threads: number }> => {
  const status = await readFile(`/proc/${pid}/status`, 'utf8');
  const figure = (line: RegExp): number => Number(line.exec(status)?.[1]);
  return {
    residentMb: Math.round(figure(/VmRSS:\s+(\d+) kB/) / 1024),
    threads: figure(/Threads:\s+(\d+)/),
  };
};

/** Items that are there while something goes on: a connection, who watches a session, a call that can be cancelled. */
export const transientItems = async ({
  url,
  credentials,
}: Pick<Endpoint, 'url' | 'credentials'>): Promise<readonly string[]> => {
  const client = new DynamoDBClient({ endpoint: url, region: 'us-east-1', credentials });
  const found: string[] = [];
  const pages = paginateScan({ client }, { TableName: 'sallyport', ProjectionExpression: 'pk, sk' });
  for await (const { Items = [] } of pages)
    found.push(
      ...Items.map(({ pk, sk }) => `${pk?.S} ${sk?.S}`).filter((key) =>
        /^CONNECTION#.* META$|^CALL#| WATCHER#/.test(key),
      ),
    );
  client.destroy();
  return found;
};

type Listed = { readonly id: string; readonly status: string };
type Page = { readonly sessions: readonly Listed[]; readonly next?: string };

/** The sessions that a token lists. */
export const listedSessions = async (url: string, token: string): Promise<readonly Listed[]> =>
  (await Promise.all(['false', 'true'].map((archived) => listedWhere(url, token, archived)))).flat();

const listedWhere = async (url: string, token: string, archived: string): Promise<readonly Listed[]> => {
  const listed: Listed[] = [];
  const headers = { authorization: `Bearer ${token}` };
  let after = '';
  do {
    const page = (await (
      await fetch(`${url}/api/sessions?archived=${archived}${after}`, { headers })
    ).json()) as Page;
    listed.push(...page.sessions);
    after = page.next === undefined ? '' : `&after=${encodeURIComponent(page.next)}`;
  } while (after !== '');
  return listed;
};

/** Lines of the functions that are errors or hold a secret. */
export const loggedFaults = async (home: string, secrets: readonly string[]): Promise<readonly string[]> =>
  (await loggedLines(home)).filter(
    (line) => /"level":"ERROR"/.test(line) || secrets.some((secret) => line.includes(secret)),
  );

/** The ended sessions of which nothing is left, as `POST /api/cleanup` does: their ids. */
export const forgottenSessions = async (home: string): Promise<readonly string[]> =>
  (await loggedLines(home))
    .filter((line) => line.includes('"event":"session_forgotten"'))
    .flatMap((line) => /"sessionId":"([^"]+)"/.exec(line)?.[1] ?? []);

const loggedLines = async (home: string): Promise<readonly string[]> => {
  const folder = join(home, 'logs');
  const names = await readdir(folder);
  const texts = await Promise.all(names.map((name) => readFile(join(folder, name), 'utf8')));
  return texts.join('\n').split('\n');
};
