/** All commands, in the order in which help shows them. */
import type { Command } from './command.ts';
import { chatCommand } from './commands/chat.ts';
import { execCommand } from './commands/exec.ts';
import { fileCommands } from './commands/files.ts';
import { loginCommand } from './commands/login.ts';
import { logoutCommand } from './commands/logout.ts';
import { mcpCommands } from './commands/mcp.ts';
import { modelCommands } from './commands/models.ts';
import { projectCommands } from './commands/projects.ts';
import { scheduleCommands } from './commands/schedules.ts';
import { secretCommands } from './commands/secret.ts';
import { sessionWordCommands } from './commands/session-words.ts';
import { sessionCommands } from './commands/sessions.ts';
import { setupCommands } from './commands/setup.ts';
import { statsCommand } from './commands/stats.ts';
import { tokenCommands } from './commands/token.ts';
import { whoamiCommand } from './commands/whoami.ts';
import { workspaceCommands } from './commands/workspaces.ts';

export const commands: readonly Command[] = [
  loginCommand,
  logoutCommand,
  whoamiCommand,
  chatCommand,
  execCommand,
  ...sessionCommands,
  ...sessionWordCommands,
  ...fileCommands,
  ...projectCommands,
  ...workspaceCommands,
  ...scheduleCommands,
  ...secretCommands,
  ...tokenCommands,
  ...mcpCommands,
  ...modelCommands,
  statsCommand,
  ...setupCommands,
];
