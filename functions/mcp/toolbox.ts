/** The tools of `/mcp`, in the order in which clients see them; one file each. */
import type { Tool } from './define-tool.ts';
import { callerToolResponse } from './tools/caller-tool-response.ts';
import { configLimits } from './tools/config-limits.ts';
import { executeCode } from './tools/execute-code.ts';
import { executeCommand } from './tools/execute-command.ts';
import { getSessions } from './tools/get-sessions.ts';
import { getVolumePath } from './tools/get-volume-path.ts';
import { listFiles } from './tools/list-files.ts';
import { project } from './tools/project.ts';
import { readFile } from './tools/read-file.ts';
import { schedule } from './tools/schedule.ts';
import { session } from './tools/session.ts';
import { stopSession } from './tools/stop-session.ts';
import { token } from './tools/token.ts';
import { workspace } from './tools/workspace.ts';
import { writeFile } from './tools/write-file.ts';

export const toolbox: readonly Tool[] = [
  executeCode,
  executeCommand,
  getSessions,
  stopSession,
  getVolumePath,
  readFile,
  writeFile,
  listFiles,
  project,
  session,
  workspace,
  schedule,
  token,
  configLimits,
  callerToolResponse,
];
