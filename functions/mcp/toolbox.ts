/** The tools of `/mcp`, in the order in which clients see them. */
import type { Tool } from './define-tool.ts';
import { callerToolResponse } from './tools/caller-tool-response.ts';
import { configLimits } from './tools/config-limits.ts';
import { executeCode, executeCommand } from './tools/execute.ts';
import { getSessions, stopSession } from './tools/execution-sessions.ts';
import { getVolumePath, listFiles, readFile, writeFile } from './tools/files.ts';
import { process } from './tools/process.ts';
import { project } from './tools/project.ts';
import { schedule } from './tools/schedule.ts';
import { session } from './tools/session.ts';
import { token } from './tools/token.ts';
import { workspace } from './tools/workspace.ts';

export const toolbox: readonly Tool[] = [
  executeCode,
  executeCommand,
  getSessions,
  stopSession,
  process,
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
