/**
 * Starts or finds a session's sandbox when the first call of its turn needs it, gives the same to all after, and saves it now
 * and then until it is left.
 *
 * A start is reported once, to the log with the next commit. Losses of which the session has not heard are told to the model
 * with the next result, even if another caller made the sandbox ready.
 */

import { startEntries } from '../../../contracts/sandbox-start.ts';
import type { LogEntry } from '../../../domain/event-log.ts';
import type { TurnId } from '../../../domain/ids.ts';
import type { Losses } from '../../../domain/losses.ts';
import type { SandboxDeps, StopDeps } from '../../deps.ts';
import { acquireSandbox } from '../../sandbox/acquire-sandbox.ts';
import type { SandboxRequest } from '../../sandbox/sandbox-request.ts';
import { keepSaving } from '../../sandbox/save-workspace.ts';
import { unlessAborted } from '../../wait-unless-aborted.ts';
import type { UsedSandbox } from '../holder/turn-context.ts';

export type LazySandbox = {
  /** Rejects with an AppError when it cannot be had, and with the signal's reason when that is aborted. */
  readonly get: () => Promise<UsedSandbox>;
  readonly current: () => UsedSandbox | undefined;
  readonly takeLog: () => readonly LogEntry[];
  readonly takeLosses: () => Losses | undefined;
  readonly leave: () => Promise<void>;
};

/** `signal`: its holder is interrupted. */
export type LazyRequest = SandboxRequest & {
  readonly signal: AbortSignal;
  readonly turn?: TurnId | undefined;
};

export const openLazySandbox = (ports: SandboxDeps & StopDeps, wanted: LazyRequest): LazySandbox => {
  let acquired: Promise<UsedSandbox> | undefined;
  let current: UsedSandbox | undefined;
  let log: readonly LogEntry[] = [];
  let untold: Losses | undefined;
  let saving: ReturnType<typeof keepSaving> | undefined;
  let logging: Promise<void> | undefined;
  const get = async (): Promise<UsedSandbox> => {
    const { sandbox, workspace, start, losses, logged } = await acquireSandbox(ports, wanted);
    logging = logged;
    if (start !== undefined) log = startEntries(start);
    untold = losses;
    saving = keepSaving(ports, sandbox, wanted.turn);
    current = { sandbox, workspace };
    return current;
  };
  return {
    get: () => {
      acquired ??= get();
      return acquired;
    },
    current: () => current,
    takeLog: () => {
      const taken = log;
      log = [];
      return taken;
    },
    takeLosses: () => {
      const taken = untold;
      untold = undefined;
      return taken;
    },
    leave: async () => {
      await logging;
      if (saving !== undefined) await unlessAborted(wanted.signal, saving.stop());
    },
  };
};
