/**
 * The functions of the platform as a table: one row each, with everything that the function may do.
 *
 * The permissions of a row add up to the environment contract of its function, or the row does not compile. A row
 * invokes only functions of the rows above it, and those with a name of their own (`permission-catalog.ts`).
 */

import { SqsDestination } from 'aws-cdk-lib/aws-lambda-destinations';
import { Construct } from 'constructs';
import type { EnvironmentFor, FunctionName } from '#shared/config/environment.ts';
import { variablesOf } from '../settings.ts';
import type { LogOptions } from './log-group.ts';
import { combine, joinVpc, type Permission } from './permission.ts';
import {
  type PermissionCatalog,
  type PermissionCatalogProps,
  permissionCatalog,
} from './permission-catalog.ts';
import { type DeploymentVariables, PlatformFunction, shapes } from './platform-function.ts';

export type PlatformFunctions = { readonly [F in FunctionName]: PlatformFunction<F> };

type Rows = {
  readonly [F in FunctionName]: (
    p: PermissionCatalog,
  ) => Permission<Omit<EnvironmentFor<F>, keyof DeploymentVariables>>;
};

// biome-ignore format: a row is one line
const rows: Rows = {
  'sandbox-link': (p) => combine(p.sandboxAddresses, p.saveWorkspaces, joinVpc),
  webhooks: (p) => p.sendWebhooks,
  janitor: (p) => combine(p.items.janitor, p.closeConnections, p.invokeTurn, p.startSandboxes, p.stopSandboxes, p.deleteWorkspaces, p.writeSeals, p.secrets.delete, p.notices, p.deleteWebhooks),
  turn: (p) => combine(p.items.turn, p.sendFrames, p.invokeTurn, p.invokeJanitor, p.startSandboxes, p.models, p.secrets.read, p.notices),
  authorizer: (p) => combine(p.items.authorizer, p.adminToken),
  'on-connected': (p) => combine(p.items['on-connected'], p.closeConnections),
  terminal: (p) => combine(p.items.terminal, p.sendFrames, p.invokeTerminal, p.invokeRelay, p.useSandboxes, p.adminToken),
  socket: (p) => combine(p.items.socket, p.closeConnections, p.invokeOnConnected, p.invokeTerminal, p.invokeTurn, p.invokeJanitor, p.useSandboxes, p.adminToken, p.notices),
  'task-events': (p) => combine(p.items.taskEvents, p.sendFrames, p.invokeJanitor, p.notices),
  schedules: (p) => combine(p.items.schedules, p.sendFrames, p.invokeTurn, p.invokeJanitor, p.useSandboxes, p.createSchedules, p.adminToken, p.notices),
  api: (p) => combine(p.items.api, p.closeConnections, p.clientSecret, p.invokeTurn, p.invokeJanitor, p.invokeSchedules, p.startSandboxes, p.models, p.readSeals, p.secrets.manage, p.adminToken, p.notices, p.manageWebhooks),
  mcp: (p) => combine(p.items.mcp, p.closeConnections, p.invokeTurn, p.invokeJanitor, p.invokeSchedules, p.startSandboxes, p.adminToken, p.notices),
  relay: (p) => combine(p.items.relay, p.sendFrames, p.invokeRelay, p.invokeMcp, p.useSandboxes, p.modelKeys, p.secrets.read),
  synthetic: (p) => p.items.synthetic,
};

export type PlatformFunctionsProps = PermissionCatalogProps & { readonly logs: LogOptions };

export const addPlatformFunctions = (
  parent: Construct,
  id: string,
  props: PlatformFunctionsProps,
): PlatformFunctions => {
  const { settings, deadLetterQueues, logs } = props;
  const scope = new Construct(parent, id);
  const created: Partial<Record<FunctionName, PlatformFunction<FunctionName>>> = {};
  const permissions = permissionCatalog(scope, props, created);
  const variables = { ...variablesOf(settings), DEPLOYMENT: settings.deployment };
  const add = <F extends FunctionName>(name: F): void => {
    const { deadLetters, ...shape } = shapes[name];
    const options = {
      ...shape,
      ...permissions.optionsOf(name),
      name,
      permissions: rows[name](permissions),
      reservedConcurrentExecutions: settings.reservedConcurrency[name],
      ...(deadLetters && { onFailure: new SqsDestination(deadLetterQueues[deadLetters]) }),
    };
    created[name] = new PlatformFunction(scope, options, { variables, logs });
  };
  for (const name of Object.keys(rows)) add(name as FunctionName);
  return created as PlatformFunctions;
};
