/** A sandbox as the task registry sees it: what it is asked for with, and how it lives and ends; whatever isolates it. */
import type { CgroupHierarchy } from './cgroup.ts';
import type { Identities } from './sandbox-identity.ts';

export type SandboxWish = {
  readonly id: string;
  readonly cpus: number;
  /** The container's limit: user code and server. */
  readonly memoryMb: number;
  readonly variables: Readonly<Record<string, string>>;
  /** For this long its address refuses connections, although it runs. */
  readonly unreachableMs: number;
};

export type SandboxEnd = {
  /** As a shell counts: 128 and the signal for who was killed by one. */
  readonly exitCode: number;
  readonly isOutOfMemory: boolean;
};

export type RunningSandbox = {
  readonly address: string;
  /** Resolves when no process is left. */
  readonly ended: Promise<SandboxEnd>;
  /** Resolves when its folder, control group and address are given back, too; never rejects. */
  readonly removed: Promise<void>;
  /** SIGTERM to the server, and SIGKILL to everything that is left after the patience. */
  readonly terminate: (patienceMs: number) => void;
  readonly kill: () => void;
};

/** A folder of the host that every sandbox sees and may write. */
export type SharedVolume = { readonly hostPath: string; readonly guestPath: string };

export type HostSettings = {
  /** Tells this cloud's control groups from another's. */
  readonly name: string;
  readonly folder: string;
  readonly programs: string;
  readonly hierarchy: CgroupHierarchy | undefined;
  readonly sharedVolume: SharedVolume | undefined;
  /** The users of this cloud's sandboxes, and of no other's. */
  readonly identities: Identities;
  readonly log: (line: string) => void;
};
