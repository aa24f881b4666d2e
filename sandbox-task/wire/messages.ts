/**
 * The messages between the server and the runner.
 *
 * The runner trusts the server; the server parses the runner's messages (server/runner-message.ts), because
 * user code can take the runner over.
 */
import type { FileRequest, UploadPart } from './file-messages.ts';
import type { ProcessRequest, ProcessStream } from './process-messages.ts';
import type { CodeContext, Language, ResultShape, StdioBlock } from './program-messages.ts';
import type { TransferRequest } from './transfer-messages.ts';

/** The oom_score_adj of user processes: the highest there is. */
export const userOomScore = 1000;

/** The bound of a refusal's message, which may hold a path with each of its characters escaped. */
export const refusalCharactersMax = 10_000;

/** The bounds of the report on an MCP server that failed. */
export const stdioMessageCharactersMax = 4000;

export type StreamName = 'stdout' | 'stderr';
export const streamNames: readonly StreamName[] = ['stdout', 'stderr'];

/** The settings of the runner, as JSON in its one argument: its environment stays empty. */
export type RunnerSettings = {
  readonly workspace: string;
  /** A second folder that file tools may name, and that the environment of user code names. */
  readonly sharedPath?: string | undefined;
  /** The Node of user code; the runner's own may be one that cannot be read. */
  readonly nodePath: string;
  /** True if user processes set their oom_score_adj themselves; false if they find /proc read-only. */
  readonly isProcWritable: boolean;
  /** The port of the proxy on the loopback; null: there is none. */
  readonly proxyPort: number | null;
  /** Processes and threads of the whole sandbox. */
  readonly processesMax: number;
  /** Given only where no cgroup limits the memory: the runner then counts it itself. */
  readonly memoryMbMax?: number | undefined;
};

/** The surroundings of one call, if it differs from others. */
export type Surroundings = {
  /** Relative to the workspace, or absolute. */
  readonly cwd?: string | undefined;
  /** More than what all user code has. */
  readonly env?: Readonly<Record<string, string>> | undefined;
  /** A stream that is longer, in bytes, is stored whole as a file of the workspace. */
  readonly storedOver?: number | undefined;
};

/** A program of its own. */
export type ProgramSpec = Surroundings & { readonly argv: readonly string[] };

/** The file of authorities, in the folder of the relay's socket, and the folder as user code sees it. */
export const authoritiesFile = 'authorities.pem';
export const relayFolder = '/run/sallyport';

/** The session's own part of the environment of every program. */
export type ProgramDefaults = {
  readonly variables: Readonly<Record<string, string>>;
  /** Relative to the workspace, or absolute. */
  readonly cwd?: string | undefined;
  /** They are told of the proxy. */
  readonly hasNetwork?: true | undefined;
  /** They are told of a file with more authorities than the system's. */
  readonly hasAuthority?: true | undefined;
};

export type RunnerRequest =
  /** The payload is `ProgramDefaults` as JSON, which may be longer than a header. */
  | { readonly type: 'set-defaults'; readonly id: number }
  /** The payload is `ProgramSpec` as JSON, which may be longer than a header. */
  | { readonly type: 'start'; readonly id: number; readonly timeoutMs: number }
  /** The payload is the code. */
  | ({ readonly type: 'run-code'; readonly id: number; readonly timeoutMs: number } & CodeContext &
      Surroundings)
  /** Ends the interpreters of this context: of one language, or of all. */
  | {
      readonly type: 'end-context';
      readonly id: number;
      readonly context: string;
      readonly language: Language | null;
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
  | { readonly type: 'list'; readonly id: number; readonly path: string }
  /** The payload is the bytes of the part, of a file. */
  | ({ readonly type: 'write-part'; readonly id: number } & UploadPart)
  | { readonly type: 'remove'; readonly id: number; readonly path: string }
  | FileRequest
  | StdioRequest
  | ProcessRequest
  | TransferRequest;

/** The payload is `StdioWork` as JSON: with its arguments it is longer than a header may be. */
type StdioRequest = { readonly type: 'ask-stdio'; readonly id: number; readonly timeoutMs: number };

export type KillCause = 'timeout' | 'cancelled' | 'memory' | 'processes';

export type FileKind = 'file' | 'directory' | 'symlink';

export type FileEntry = {
  readonly name: string;
  readonly type: FileKind;
  readonly size: number;
  readonly modifiedAt: string;
};

/** Two pieces of one content name the same file, and the same time (in nanoseconds) of its last write. */
export type FileState = { readonly file: string; readonly size: number; readonly writtenAt: string };

export type FileFailure =
  | 'path_outside_workspace'
  | 'file_not_found'
  | 'invalid_request'
  | 'conflict'
  | 'resource_limit_exceeded';

export type MissingEntry = { readonly path: string; readonly reason: string };

/** The length of one stream, and of its head and its tail in the payload. */
export type StreamSummary = {
  readonly bytes: number;
  readonly headBytes: number;
  readonly tailBytes: number;
  /** The path in the workspace of the file that has the stream, and its length; absent: there is none. */
  readonly file?: { readonly path: string; readonly bytes: number } | undefined;
};

export type RunnerMessage =
  | { readonly type: 'ready' }
  | StdioLog
  | StdioAnswer
  | ProcessMessage
  /** New output of a running call, for progress: the payload, from byte `offset` of its stream. */
  | { readonly type: 'output'; readonly id: number; readonly stream: StreamName; readonly offset: number }
  /** The end of a call. The payload is stdout's head and tail, then stderr's, then the parts of the results. */
  | {
      readonly type: 'exit';
      readonly id: number;
      readonly exitCode: number | null;
      readonly signal: string | null;
      readonly killedFor: KillCause | null;
      /** False when processes of the call survived: the server then ends all user processes. */
      readonly isEnded: boolean;
      readonly durationMs: number;
      readonly cpuMs: number;
      readonly stdout: StreamSummary;
      readonly stderr: StreamSummary;
      /** Why the program could not be started at all. */
      readonly startFailure: string | null;
      /** The definitions of earlier code in its context, or of this code, are lost. */
      readonly stateLost: boolean;
      /** The final line of an uncaught error: `ValueError: no`. */
      readonly errorLine: string | null;
      readonly results: readonly ResultShape[];
      readonly resultsLeftOut: number;
    }
  | ({ readonly type: 'chunk'; readonly id: number; readonly modifiedAt: string } & FileState)
  | { readonly type: 'written'; readonly id: number; readonly isNew: boolean; readonly size: number }
  /** A part arrived that was not the last; the bytes so far. */
  | { readonly type: 'received'; readonly id: number; readonly bytes: number }
  | { readonly type: 'done'; readonly id: number }
  /** The number of interpreters that had, or had lost, definitions. */
  | { readonly type: 'context-ended'; readonly id: number; readonly count: number }
  /** The payload is whole frames of shared/contracts/archive.ts. */
  | { readonly type: 'piece'; readonly id: number; readonly isLast: boolean }
  /** The payload is a JSON list of `MissingEntry`. */
  | { readonly type: 'restored'; readonly id: number; readonly files: number }
  /** False also where that is not known. */
  | { readonly type: 'compared'; readonly id: number; readonly isSame: boolean }
  /** The payload is the list as JSON: a folder may hold more names than a header may. `isCut`: it has more than the list. */
  | { readonly type: 'listed'; readonly id: number; readonly isCut: boolean }
  | {
      readonly type: 'refused';
      readonly id: number;
      readonly failure: FileFailure;
      readonly message: string;
    };

/** About a process that outlives the request that started it. */
type ProcessMessage =
  /** `isEnded`: false when some of it survived, as below. */
  | { readonly type: 'process-ended'; readonly id: number; readonly isEnded: boolean }
  | { readonly type: 'process-started'; readonly id: number; readonly pid: number }
  /** The payload is what came next on this stream. */
  | { readonly type: 'process-output'; readonly id: number; readonly stream: ProcessStream }
  | {
      readonly type: 'process-exit';
      readonly id: number;
      readonly exitCode: number | null;
      readonly signal: string | null;
      readonly killedFor: KillCause | null;
      /** False when some of it survived a kill: the server then ends all user processes. */
      readonly isEnded: boolean;
      readonly durationMs: number;
      readonly startFailure: string | null;
    };

export type StdioFailure = KillCause | 'start' | 'protocol' | 'died' | 'limit';

/** `isFresh`: the MCP server was started for this call, and knows nothing of earlier ones. */
export type StdioAnswer =
  /** The payload is the text of notifications of progress, a line each. */
  | { readonly type: 'stdio-progress'; readonly id: number }
  /** The payload is the list as JSON. */
  | {
      readonly type: 'stdio-tools';
      readonly id: number;
      readonly isFresh: boolean;
      readonly leftOut: number;
    }
  /** The payload is the blocks, one after the other, then the structured content as JSON. */
  | {
      readonly type: 'stdio-result';
      readonly id: number;
      readonly isFresh: boolean;
      readonly durationMs: number;
      readonly isError: boolean;
      /** The code of a JSON-RPC error, whose message is in the blocks as text. */
      readonly errorCode: number | null;
      readonly blocks: readonly StdioBlock[];
      readonly structuredBytes: number;
      /** Texts were shortened, blocks or the structured content left out. */
      readonly isCut: boolean;
    }
  | {
      readonly type: 'stdio-failure';
      readonly id: number;
      readonly isFresh: boolean;
      readonly failure: StdioFailure;
      readonly message: string;
      /** The newest lines of its stderr. */
      readonly stderrTail: string;
      /** A tool was called, and may have run in part. */
      readonly hasRun: boolean;
      /** The MCP server has ended, and its state is lost. */
      readonly isLost: boolean;
      /** False when its processes survived: the server then ends all user processes. */
      readonly isEnded: boolean;
    };

/** The payload is whole lines that an MCP server wrote on stderr, also between calls. */
type StdioLog = { readonly type: 'stdio-log'; readonly server: string };
