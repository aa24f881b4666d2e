/** A sandbox as the task registry sees it, whichever isolation runs it: the request for it, its life and its end. */
import { constants } from 'node:os';
import type { CgroupHierarchy } from './cgroup.ts';
import type { Identities } from './sandbox-identity.ts';

export type SandboxRequest = {
  readonly id: string;
  /** The template of the image. */
  readonly template: string;
  readonly cpus: number;
  /** The container's limit: user code and server. */
  readonly memoryMb: number;
  readonly variables: Readonly<Record<string, string>>;
  /** For this long its address refuses connections although the sandbox runs. */
  readonly unreachableMs: number;
};

export type SandboxEnd = {
  readonly exitCode: number;
  readonly isOutOfMemory: boolean;
};

export type RunningSandbox = {
  readonly address: string;
  /** Resolves when no process is left. */
  readonly ended: Promise<SandboxEnd>;
  /** Resolves when its folder, cgroup and address are released, too; never rejects. */
  readonly removed: Promise<void>;
  /** Sends SIGTERM to the server, and after the timeout SIGKILL to everything that is left. */
  readonly terminate: (timeoutMs: number) => void;
  readonly kill: () => void;
};

/** A folder of the host that every sandbox sees and may write. */
export type SharedVolume = { readonly hostPath: string; readonly guestPath: string };

export type HostSettings = {
  /** The prefix of this cloud's cgroups. */
  readonly name: string;
  readonly folder: string;
  readonly programs: string;
  readonly hierarchy: CgroupHierarchy | undefined;
  readonly sharedVolume: SharedVolume | undefined;
  /** The host users of this cloud's sandboxes. */
  readonly identities: Identities;
  /** At which the sandboxes are reached, each at an address of its own. */
  readonly port: number;
  readonly log: (line: string) => void;
};

/** As a shell and Docker count it: 128 plus the signal for a process that a signal ended. */
export const exitCodeOf = (code: number | null, signal: NodeJS.Signals | null): number =>
  code ?? 128 + constants.signals[signal ?? 'SIGKILL'];

export const killedExit = 137;
