/**
 * The pool of running MCP servers: one per name, with its current configuration.
 *
 * A changed configuration starts another one; the old one ends with its last call. A full pool evicts the MCP server
 * that was idle longest; when none was idle long enough, the call is refused.
 */
import type { StdioServerConfig } from '../../wire/program-messages.ts';
import { markOf } from '../call-processes.ts';
import type { SandboxPaths } from '../user-process.ts';
import { FileRefusal } from '../workspace-path.ts';
import { createStdioLogger } from './server-lines.ts';
import { type StdioServer, startStdioServer } from './stdio-server.ts';

export type AcquiredServer = {
  readonly server: StdioServer;
  /** Started for this call. */
  readonly isFresh: boolean;
  readonly release: () => void;
};
export type StdioPool = {
  /** Throws when there are too many. A server has the mark of the call that it was started for. */
  readonly acquire: (config: StdioServerConfig, callId: number) => AcquiredServer;
};

type PooledServer = {
  readonly name: string;
  readonly key: string;
  readonly server: StdioServer;
  calls: number;
  usedAt: number;
  isRetired: boolean;
};

const serversMax = 8;
/** An MCP server may be evicted after this idle time. */
const idleMsMin = 300_000;

type SendLog = (server: string, text: string) => void;

export const createStdioPool = (paths: SandboxPaths, sendLog: SendLog): StdioPool => {
  const living = new Set<PooledServer>();
  const retire = (pooled: PooledServer): void => {
    pooled.isRetired = true;
    if (pooled.calls === 0) pooled.server.retire();
  };
  /** A server without calls that is about to give way no longer counts. */
  const makeRoom = (replaced: PooledServer | undefined): void => {
    const staying = [...living].filter(
      (pooled) => pooled.calls > 0 || !(pooled.isRetired || pooled === replaced),
    );
    if (staying.length < serversMax) return;
    const idle = staying.filter(
      ({ calls, usedAt }) => calls === 0 && performance.now() - usedAt >= idleMsMin,
    );
    const oldest = idle.toSorted((one, other) => one.usedAt - other.usedAt)[0];
    if (oldest === undefined)
      throw new FileRefusal(
        'resource_limit_exceeded',
        `${staying.length} MCP servers run in this sandbox already`,
      );
    retire(oldest);
  };
  const start = (config: StdioServerConfig, callId: number): PooledServer => {
    const { name, env } = config;
    const logger = createStdioLogger(env, (text) => sendLog(name, text));
    const server = startStdioServer({ config, paths, mark: markOf(callId) }, logger);
    const pooled = { name, key: keyOf(config), server, calls: 0, usedAt: 0, isRetired: false };
    living.add(pooled);
    void server.ended.then(() => living.delete(pooled));
    return pooled;
  };
  const current = (name: string): PooledServer | undefined =>
    [...living].find(
      (pooled) => pooled.name === name && !pooled.isRetired && !pooled.server.peer.hasFailed(),
    );
  return {
    acquire: (config, callId) => {
      const found = current(config.name);
      const isFresh = found === undefined || found.key !== keyOf(config);
      // A call that is refused leaves the old one as it is.
      if (isFresh) makeRoom(found);
      if (found !== undefined && isFresh) retire(found);
      const pooled = isFresh ? start(config, callId) : found;
      pooled.calls += 1;
      return {
        server: pooled.server,
        isFresh,
        release: () => {
          pooled.calls -= 1;
          pooled.usedAt = performance.now();
          if (pooled.isRetired && pooled.calls === 0) pooled.server.retire();
        },
      };
    },
  };
};

/** Equal configurations have equal keys, in any order of their variables. */
const keyOf = ({ command, args, env, cwd }: StdioServerConfig): string =>
  JSON.stringify([command, args, Object.entries(env).toSorted(), cwd ?? null]);
