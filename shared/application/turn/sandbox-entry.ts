/**
 * The way into a session's sandbox while its turn runs tools: taken by the first who needs it, the same for all
 * after, and saved now and then until it is left.
 *
 * Who starts a sandbox says so once: the log with the next commit, the model with the next result from inside.
 */
import { startEntries, startNotice } from '../../contracts/sandbox-start.ts';
import type { LogEntry } from '../../domain/event-log.ts';
import { type AcquirePorts, acquireSandbox } from '../sandbox/acquire-sandbox.ts';
import { keepSaving, type SavePorts } from '../sandbox/save-workspace.ts';
import type { SandboxRequest } from '../sandbox/start-sandbox.ts';
import type { UsedSandbox } from './desk.ts';

export type SandboxEntry = {
  /** Rejects with an AppError when it cannot be had, and with the signal's reason when that is aborted. */
  readonly enter: () => Promise<UsedSandbox>;
  readonly used: () => UsedSandbox | undefined;
  readonly takeSaid: () => readonly LogEntry[];
  readonly takeNotice: () => string | undefined;
  readonly leave: () => Promise<void>;
};

export const openEntry = (ports: AcquirePorts & SavePorts, wanted: SandboxRequest): SandboxEntry => {
  let entering: Promise<UsedSandbox> | undefined;
  let used: UsedSandbox | undefined;
  let said: readonly LogEntry[] = [];
  let notice: string | undefined;
  let saving: ReturnType<typeof keepSaving> | undefined;
  const enter = async (): Promise<UsedSandbox> => {
    const { sandbox, workspace, start } = await acquireSandbox(ports, wanted);
    if (start !== undefined) {
      said = startEntries(start);
      notice = startNotice(start);
    }
    saving = keepSaving(ports, sandbox);
    used = { sandbox, workspace };
    return used;
  };
  return {
    enter: () => {
      entering ??= enter();
      return entering;
    },
    used: () => used,
    takeSaid: () => {
      const taken = said;
      said = [];
      return taken;
    },
    takeNotice: () => {
      const taken = notice;
      notice = undefined;
      return taken;
    },
    leave: async () => saving?.stop(),
  };
};
