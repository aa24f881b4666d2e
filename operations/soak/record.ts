/** The record of a soak: what was asked, what was seen, and what was left. The audit judges it and nothing else. */

export type LoggedEvent = {
  readonly index: number;
  readonly type: string;
  readonly data: Readonly<Record<string, unknown>>;
};

/** A frame of a log entry as a person's sockets showed it, in the order of their arrival. */
export type SeenFrame = { readonly seq: number; readonly type: string };

/** A message to an agent, and the mark that each of its calls leaves. */
export type Sent = {
  readonly messageId: string;
  readonly marks: readonly string[];
  /** The marks of calls that a person refused. */
  readonly refused?: readonly string[];
};

/** A text that stands in a file, and what was read there. */
export type FileSeen = { readonly path: string; readonly wanted: string; readonly found: string };

/** A process that counts its lines aloud to a last one. */
export type ProcessSeen = { readonly lines: number; readonly text: string; readonly isLost: boolean };

/** A command that was asked for once; of some it is unknown whether they ran. */
export type Asked = { readonly mark: string; readonly outcome: 'ran' | 'unknown' };

export type SessionRecord = {
  readonly id: string;
  readonly work: string;
  readonly sent: readonly Sent[];
  readonly asked: readonly Asked[];
  readonly events: readonly LoggedEvent[];
  /** Absent: not looked at. */
  readonly frames?: readonly SeenFrame[];
  /** Of the workspace, and of the volume that no fault takes anything from. */
  readonly workspaceMarks: readonly string[];
  readonly sharedMarks: readonly string[];
  readonly files: readonly FileSeen[];
  readonly processes: readonly ProcessSeen[];
};

/** An event of which the receiver must hear, and a delivery that it accepted. */
export type Due = { readonly type: string; readonly sessionId: string; readonly turnId: string };
export type Delivered = Due & { readonly id: string };

export type RunSeen = { readonly runAt: string; readonly status: string; readonly trigger: string };
export type ScheduleRecord = {
  readonly id: string;
  /** Of the time for which it was enabled. */
  readonly from: number;
  readonly to: number;
  readonly runs: readonly RunSeen[];
};

/** Counts on the host. */
export type HostState = {
  readonly processes: number;
  readonly ports: number;
  readonly folders: number;
};

/** Of one minute. */
export type Sample = {
  readonly minute: number;
  readonly memoryMb: number;
  readonly descriptors: number;
  readonly latencyMs: number;
};

export type SoakRecord = {
  readonly sessions: readonly SessionRecord[];
  /** Work that ended by an error, and the error. */
  readonly failed: readonly { readonly work: string; readonly error: string }[];
  readonly delivered: readonly Delivered[];
  readonly schedules: readonly ScheduleRecord[];
  /** The number of items that the table has after the sweeps. */
  readonly items: number;
  /** Those of them that should be gone, read as what they are. */
  readonly left: readonly { readonly kind: string; readonly key: string }[];
  readonly host: { readonly before: HostState; readonly after: HostState };
  readonly samples: readonly Sample[];
};

/** One thing that must hold. */
export type AuditLine = {
  readonly name: string;
  /** The number of things that were looked at. */
  readonly checked: number;
  readonly problems: readonly string[];
};
