/** All commands, in the order of the help. */
import type { Command } from './command.ts';
import { approvalCommands, sessionDecisionCommands } from './commands/approvals.ts';
import { chatCommand } from './commands/chat.ts';
import { execCommand } from './commands/exec.ts';
import { fileCommands } from './commands/files.ts';
import { grantCommands } from './commands/grants.ts';
import { loginCommand, logoutCommand, whoamiCommand } from './commands/login.ts';
import { mcpCommands } from './commands/mcp.ts';
import { modelCommands } from './commands/models.ts';
import { auditCommand, statsCommand } from './commands/operator.ts';
import { projectCommands } from './commands/projects.ts';
import { scheduleCommands } from './commands/schedules.ts';
import { secretCommands } from './commands/secret.ts';
import { sessionMessageCommands } from './commands/session-messages.ts';
import { sessionCommands } from './commands/sessions.ts';
import { setupCommands } from './commands/setup.ts';
import { tokenCommands } from './commands/token.ts';
import { webhookCommands } from './commands/webhooks.ts';
import { workspaceCommands } from './commands/workspaces.ts';

export const commands: readonly Command[] = [
  loginCommand,
  logoutCommand,
  whoamiCommand,
  chatCommand,
  execCommand,
  ...approvalCommands,
  ...grantCommands,
  ...sessionCommands,
  ...sessionMessageCommands,
  ...sessionDecisionCommands,
  ...fileCommands,
  ...projectCommands,
  ...workspaceCommands,
  ...scheduleCommands,
  ...secretCommands,
  ...tokenCommands,
  ...webhookCommands,
  ...mcpCommands,
  ...modelCommands,
  auditCommand,
  statsCommand,
  ...setupCommands,
];
