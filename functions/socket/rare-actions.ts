/**
 * Rare actions of a connection: the use cases behind frames that few clients send, and the work after a connection has closed.
 *
 * Only these need the ports into a sandbox, to its saved files and to terminals. All of it is one chunk of the bundle, loaded when
 * the first of these actions comes.
 */
import type { LambdaClient } from '@aws-sdk/client-lambda';
import type { Table } from '#shared/adapters/aws/dynamo/table.ts';
import { makeTerminalStore } from '#shared/adapters/aws/dynamo/terminal-store.ts';
import { openSandboxLink, openSavedFiles } from '#shared/adapters/aws/open-sandbox-link.ts';
import { systemWorld } from '#shared/adapters/system-world.ts';
import { openAttacher } from '#shared/application/process/attach-terminal.ts';
import type { Environment } from '#shared/config/environment.ts';
import type { FollowerStarter } from '#shared/ports/invoker.ts';
import type { Correlation } from '#shared/ports/telemetry.ts';

export { closeConnection } from '#shared/application/connection/close-connection.ts';
export { resetHistory } from '#shared/application/session/reset-history.ts';
export { answerCall, declareTools } from '#shared/application/turn/requests/caller-tools.ts';
export { cancelTree } from '#shared/application/turn/requests/cancel-turn.ts';
export { checkAttachments } from '#shared/application/turn/requests/check-attachments.ts';
export { decideCall } from '#shared/application/turn/requests/decide-call.ts';
export { endSession } from '#shared/application/turn/requests/end-session.ts';
export { answerTerminal } from './answer-terminal.ts';

type Opening = {
  readonly table: Table;
  readonly lambda: LambdaClient;
  readonly correlation: Correlation;
  readonly followerStarter: FollowerStarter;
};

export const openRarePorts = (
  environment: Environment<'socket'>,
  { table, lambda, correlation, followerStarter }: Opening,
) => ({
  attachTerminal: openAttacher({ terminals: makeTerminalStore(table), followerStarter, world: systemWorld }),
  link: openSandboxLink(environment, { lambda, correlation }),
  savedFiles: openSavedFiles(environment, { lambda, correlation }),
});
