/** The public names of the package `@sallyport/sdk`. */

export {
  AgentSession,
  type ApprovalEvent,
  type BranchOptions,
  exportConversation,
  type Message,
  type NamedApproval,
} from './agent-session.ts';
export { ApiClient, type FetchOptions, type SocketLike } from './api-client.ts';
export { decideCall, digestOf, isSettled, readCall, type WaitingCall } from './approvals.ts';
export type { CallerTool, CallerToolCall, CallerToolOptions } from './caller-tools.ts';
export {
  type Chart,
  type ChartAxis,
  type ChartSeries,
  type Coordinate,
  chartsOf,
  type ResultBundle,
  type Table,
  tableOf,
} from './code-results.ts';
export type { Connection, ConnectionState } from './connection.ts';
export type { ExportFormat } from './conversation-export.ts';
export { type ErrorFacts, SallyportError } from './errors.ts';
export type { ContentFormat, FileContent } from './file-content.ts';
export type { ClientAction, Frame, FrameOf } from './frames.ts';
export type { OutputEvent, OutputOptions, ProcessExit } from './process-output.ts';
export type { AnswerOf, BodyOf, QueryOf, Route } from './route.ts';
export {
  api,
  type CodeResult,
  type ExecResult,
  type FileEntry,
  type ProcessInfo,
  type SearchPage,
  type Session,
  type Snapshot,
  type TerminalSize,
} from './routes.ts';
export type { CodeOptions, ExecOptions } from './run-command.ts';
export type { SessionSearch } from './sallyport.ts';
export {
  type AgentOptions,
  AgentSessions,
  Sallyport,
  type SallyportOptions,
  Sandboxes,
  type SandboxOptions,
  type SearchOptions,
} from './sallyport.ts';
export { Sandbox, type SandboxChange } from './sandbox.ts';
export { type FileChange, type FileStat, SandboxFiles } from './sandbox-files.ts';
export { SandboxProcess, SandboxProcesses, type StartOptions } from './sandbox-processes.ts';
export {
  connectToSession,
  type SessionConnection,
  type SessionConnectionOptions,
} from './session-connection.ts';
export type { Terminal, TerminalOptions } from './terminal.ts';
export type { MessageOptions } from './turn-events.ts';
