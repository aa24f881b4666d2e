/** The log of a workspace's sandboxes: their lives and their stderr; readable after they died. */
import type { WorkspaceId } from '../domain/ids.ts';

export type LogLine = {
  /** Epoch milliseconds. */
  readonly at: number;
  readonly stream: 'stderr' | 'lifecycle';
  readonly text: string;
};

export interface SandboxLog {
  append(workspace: WorkspaceId, lines: readonly LogLine[]): Promise<void>;
  /** The newest lines, in order of time. */
  read(workspace: WorkspaceId, linesMax: number): Promise<readonly LogLine[]>;
}
