/** The ports that only the use cases of `seldom.ts` ask: the requests into a sandbox, its saved files, and terminals. */
import type { LambdaClient } from '@aws-sdk/client-lambda';
import type { Table } from '#shared/adapters/aws/dynamo/table.ts';
import { makeTerminalStore } from '#shared/adapters/aws/dynamo/terminal-store.ts';
import { openSandboxLink, openSavedFiles } from '#shared/adapters/aws/open-sandbox-link.ts';
import { systemWorld } from '#shared/adapters/system-world.ts';
import { openAttacher } from '#shared/application/process/attach-terminal.ts';
import type { Environment } from '#shared/config/environment.ts';
import type { FollowerStarter } from '#shared/ports/invoker.ts';
import type { Correlation } from '#shared/ports/telemetry.ts';

export type Opening = {
  readonly table: Table;
  readonly lambda: LambdaClient;
  readonly correlation: Correlation;
  readonly followerStarter: FollowerStarter;
};

export const openSeldomPorts = (
  environment: Environment<'socket'>,
  { table, lambda, correlation, followerStarter }: Opening,
) => ({
  attachTerminal: openAttacher({ terminals: makeTerminalStore(table), followerStarter, world: systemWorld }),
  link: openSandboxLink(environment, { lambda, correlation }),
  savedFiles: openSavedFiles(environment, { lambda, correlation }),
});
