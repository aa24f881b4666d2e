/** TCP addresses on which a program and its descendants listen, in the network of a local browser. */
import { readdirSync, readFileSync, readlinkSync } from 'node:fs';

const listening = '0A';

/** `127.0.0.1:4350` for each socket; an IPv6 address by its loopback name. */
export const listeningAddresses = (root: number): readonly string[] => {
  const inodes = new Set(family(root).flatMap(socketsOf));
  return ['tcp', 'tcp6'].flatMap((table) =>
    readFileSync(`/proc/self/net/${table}`, 'utf8')
      .split('\n')
      .slice(1)
      .map((line) => line.trim().split(/\s+/))
      .filter(([, , , state, , , , , , inode = '']) => state === listening && inodes.has(inode))
      .map(([, local = '']) => spoken(local, table === 'tcp6')),
  );
};

const spoken = (local: string, isIpv6: boolean): string => {
  const [address = '', port = ''] = local.split(':');
  const bytes = address.match(/../g)?.map((byte) => Number.parseInt(byte, 16)) ?? [];
  const host = isIpv6
    ? '[::1]'
    : bytes
        .reverse()
        .join('.')
        .replace(/^0\.0\.0\.0$/, '127.0.0.1');
  return `${host}:${Number.parseInt(port, 16)}`;
};

const family = (root: number): readonly number[] => {
  const parents = numbers('/proc').map((pid) => [pid, parentOf(pid)] as const);
  const found = [root];
  for (const pid of found) found.push(...parents.filter(([, parent]) => parent === pid).map(([own]) => own));
  return found;
};

const numbers = (folder: string): readonly number[] =>
  readdirSync(folder)
    .filter((name) => /^\d+$/.test(name))
    .map(Number);

/** A process that ends during the inspection listens nowhere. */
const unlessGone = <T>(look: () => T, gone: T): T => {
  try {
    return look();
  } catch (error) {
    if (['ENOENT', 'ESRCH'].includes((error as NodeJS.ErrnoException).code ?? '')) return gone;
    throw error;
  }
};

const parentOf = (pid: number): number =>
  unlessGone(
    () =>
      Number(
        readFileSync(`/proc/${pid}/stat`, 'utf8')
          .replace(/^.*\) \S+ /s, '')
          .split(' ')[0],
      ),
    0,
  );

const socketsOf = (pid: number): readonly string[] =>
  unlessGone(
    () =>
      numbers(`/proc/${pid}/fd`).flatMap((descriptor) => {
        const place = unlessGone(() => readlinkSync(`/proc/${pid}/fd/${descriptor}`), '');
        return /^socket:\[(\d+)\]$/.exec(place)?.slice(1) ?? [];
      }),
    [],
  );
