/**
 * The living MCP servers of the sandbox: one per name, as it is configured now.
 *
 * A changed configuration starts another; the old one ends with its last call. When all places are taken, one that
 * nobody asked for a while gives its own, and otherwise the call is refused.
 */
import type { StdioServerConfig } from '../../wire/stdio-messages.ts';
import { markOf } from '../call-processes.ts';
import { FileRefusal } from '../file-refusal.ts';
import type { UserPlace } from '../user-process.ts';
import { createStdioLogger } from './stdio-log.ts';
import { type StdioServer, startStdioServer } from './stdio-server.ts';

export type TakenServer = {
  readonly server: StdioServer;
  /** Started for this call. */
  readonly isFresh: boolean;
  readonly giveBack: () => void;
};
export type StdioShelf = {
  /** Throws when there are too many. A server has the mark of the call that it was started for. */
  readonly take: (config: StdioServerConfig, callId: number) => TakenServer;
};

type Shelved = {
  readonly name: string;
  readonly key: string;
  readonly server: StdioServer;
  calls: number;
  usedAt: number;
  isRetired: boolean;
};

const serversMax = 8;
/** How long one was not asked that gives its place to another. */
const idleMsMin = 300_000;

export type SendLog = (server: string, text: string) => void;

export const createStdioShelf = (place: UserPlace, sendLog: SendLog): StdioShelf => {
  const living = new Set<Shelved>();
  const retire = (shelved: Shelved): void => {
    shelved.isRetired = true;
    if (shelved.calls === 0) shelved.server.retire();
  };
  const makeRoom = (): void => {
    if (living.size < serversMax) return;
    const idle = [...living].filter(
      ({ calls, usedAt }) => calls === 0 && performance.now() - usedAt >= idleMsMin,
    );
    const oldest = idle.toSorted((one, other) => one.usedAt - other.usedAt)[0];
    if (oldest === undefined)
      throw new FileRefusal(
        'resource_limit_exceeded',
        `${living.size} MCP servers run in this sandbox already`,
      );
    living.delete(oldest);
    oldest.server.retire();
  };
  const start = (config: StdioServerConfig, callId: number): Shelved => {
    makeRoom();
    const { name, env } = config;
    const logger = createStdioLogger(env, (text) => sendLog(name, text));
    const server = startStdioServer({ config, place, mark: markOf(callId) }, logger);
    const shelved = { name, key: keyOf(config), server, calls: 0, usedAt: 0, isRetired: false };
    living.add(shelved);
    void server.ended.then(() => living.delete(shelved));
    return shelved;
  };
  const current = (name: string): Shelved | undefined =>
    [...living].find(
      (shelved) => shelved.name === name && !shelved.isRetired && !shelved.server.peer.hasFailed(),
    );
  return {
    take: (config, callId) => {
      const found = current(config.name);
      const isFresh = found === undefined || found.key !== keyOf(config);
      if (found !== undefined && isFresh) retire(found);
      const shelved = isFresh ? start(config, callId) : found;
      shelved.calls += 1;
      return {
        server: shelved.server,
        isFresh,
        giveBack: () => {
          shelved.calls -= 1;
          shelved.usedAt = performance.now();
          if (shelved.isRetired && shelved.calls === 0) shelved.server.retire();
        },
      };
    },
  };
};

/** Two configurations with one key are the same, in whatever order their variables stand. */
const keyOf = ({ command, args, env, cwd }: StdioServerConfig): string =>
  JSON.stringify([command, args, Object.entries(env).toSorted(), cwd ?? null]);
