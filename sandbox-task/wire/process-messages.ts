/**
 * The requests about processes of the user, which outlive the request that started them.
 *
 * Requests name a process by the id of the request that started it. The answers are in messages.ts.
 */
export const processStreams = ['stdout', 'stderr', 'pty'] as const;
export type ProcessStream = (typeof processStreams)[number];

export type TerminalSize = { readonly cols: number; readonly rows: number };

export type ProcessSpec = {
  readonly argv: readonly string[];
  /** Relative to the workspace, or absolute; the workspace when absent. */
  readonly cwd?: string | undefined;
  readonly env: Readonly<Record<string, string>>;
  readonly pty?: TerminalSize | undefined;
  /** Stdin ends after the first input. */
  readonly isInputWhole: boolean;
  /** No limit when absent. */
  readonly timeoutMs?: number | undefined;
};

export type ProcessRequest =
  /** The payload is `ProcessSpec` as JSON, which may be longer than a header, then the first input. */
  | { readonly type: 'start-process'; readonly id: number; readonly specBytes: number }
  /** The payload is the bytes. */
  | {
      readonly type: 'write-input';
      readonly id: number;
      readonly process: number;
      readonly isLast: boolean;
    }
  | {
      readonly type: 'signal-process';
      readonly id: number;
      readonly process: number;
      readonly signal: string;
    }
  | ({ readonly type: 'resize-process'; readonly id: number; readonly process: number } & TerminalSize)
  /** Ends every process of it, also those that its first one left behind. */
  | { readonly type: 'end-process'; readonly id: number; readonly process: number };

const requestTypes: readonly string[] = [
  'start-process',
  'write-input',
  'signal-process',
  'resize-process',
  'end-process',
] satisfies readonly ProcessRequest['type'][];

export const isProcessRequest = <Other extends { readonly type: string }>(
  request: Other | ProcessRequest,
): request is ProcessRequest => requestTypes.includes(request.type);

/** Bytes that wait for a process to read its stdin. */
export const waitingInputBytesMax = 4 * 1_048_576;
