/**
 * What the server and the runner say to each other: the vocabulary of the pipe.
 *
 * Types only. The runner believes the server; the server parses what the runner says
 * (server/runner-message.ts), because user code can put words into the runner's mouth.
 */
export type StreamName = 'stdout' | 'stderr';
export const streamNames: readonly StreamName[] = ['stdout', 'stderr'];

/** What the runner is told when it starts, as JSON in its one argument: its environment stays empty. */
export type RunnerSettings = {
  readonly workspace: string;
  /** Processes and threads of the whole sandbox. */
  readonly processesMax: number;
  /** Given only where no cgroup limits the memory: the runner then counts it itself. */
  readonly memoryMbMax?: number | undefined;
};

export type RunnerRequest =
  | {
      readonly type: 'start';
      readonly id: number;
      readonly argv: readonly string[];
      readonly timeoutMs: number;
    }
  | { readonly type: 'kill'; readonly id: number; readonly cause: KillCause }
  | {
      readonly type: 'read';
      readonly id: number;
      readonly path: string;
      readonly offset: number;
      readonly bytesMax: number;
    }
  /** The payload is the whole content. */
  | { readonly type: 'write'; readonly id: number; readonly path: string }
  | { readonly type: 'list'; readonly id: number; readonly path: string };

export type KillCause = 'timeout' | 'cancelled' | 'memory' | 'processes';

export type FileKind = 'file' | 'directory' | 'symlink';

export type FileEntry = {
  readonly name: string;
  readonly type: FileKind;
  readonly size: number;
  readonly modifiedAt: string;
};

export type FileFailure = 'path_outside_workspace' | 'file_not_found' | 'invalid_request';

/** How much of one stream came, and how many bytes of its head and its tail the payload holds. */
export type StreamSummary = {
  readonly bytes: number;
  readonly headBytes: number;
  readonly tailBytes: number;
};

export type RunnerMessage =
  | { readonly type: 'ready' }
  /** New output of a running call, for progress: the payload, from byte `offset` of its stream. */
  | { readonly type: 'output'; readonly id: number; readonly stream: StreamName; readonly offset: number }
  /** The end of a call. The payload is stdout's head and tail, then stderr's head and tail. */
  | {
      readonly type: 'exit';
      readonly id: number;
      readonly exitCode: number | null;
      readonly signal: string | null;
      readonly killedFor: KillCause | null;
      /** False when processes of the call resisted: the server then ends all user processes. */
      readonly isGone: boolean;
      readonly durationMs: number;
      readonly cpuMs: number;
      readonly stdout: StreamSummary;
      readonly stderr: StreamSummary;
      /** Why the program could not be started at all. */
      readonly startFailure: string | null;
    }
  | { readonly type: 'chunk'; readonly id: number; readonly size: number; readonly modifiedAt: string }
  | { readonly type: 'written'; readonly id: number }
  /** The payload is the list as JSON: a folder may hold more names than a header may. */
  | { readonly type: 'listed'; readonly id: number }
  | {
      readonly type: 'refused';
      readonly id: number;
      readonly failure: FileFailure;
      readonly message: string;
    };
