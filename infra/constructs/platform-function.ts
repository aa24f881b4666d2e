/**
 * A Lambda function of the platform: `functions/<name>/handler.ts` as one bundle, and the rules that all share.
 *
 * Its role holds write access to its own log group, trace segments and its permissions, and no managed policy. Its
 * variables are exactly those of its contract.
 */
import { Duration } from 'aws-cdk-lib';
import { PolicyStatement, Role, ServicePrincipal } from 'aws-cdk-lib/aws-iam';
import {
  ApplicationLogLevel,
  Architecture,
  type FunctionOptions,
  Function as LambdaFunction,
  LoggingFormat,
  RecursiveLoop,
  Runtime,
  SystemLogLevel,
  Tracing,
} from 'aws-cdk-lib/aws-lambda';
import { Construct } from 'constructs';
import { type EnvironmentFor, environments, type FunctionName } from '#shared/config/environment.ts';
import { functionLimits } from '#shared/config/function-limits.ts';
import type { Variables } from '#shared/config/read-variables.ts';
import { bundledHandler } from './assets.ts';
import { checkEnvironmentSize } from './environment-size.ts';
import { addLogGroup, type LogOptions } from './log-group.ts';
import { acknowledgeWildcards } from './nag-exceptions.ts';
import type { Permission, Statement } from './permission.ts';

/** The variables of every function. */
export type DeploymentVariables = { readonly DEPLOYMENT: string };

export type PlatformFunctionProps<F extends FunctionName> = {
  readonly name: F;
  readonly permissions: Permission<Omit<EnvironmentFor<F>, keyof DeploymentVariables>>;
  readonly timeout: Duration;
  readonly memoryMib?: number;
  /** For a policy that refers to the role before it is created. */
  readonly rolePath?: string;
} & Pick<
  FunctionOptions,
  | 'functionName'
  | 'maxEventAge'
  | 'onFailure'
  | 'recursiveLoop'
  | 'reservedConcurrentExecutions'
  | 'retryAttempts'
  | 'securityGroups'
  | 'vpc'
  | 'vpcSubnets'
>;

export type SharedFunctionProps = {
  /** All of the operator's variables: a function gets those of its contract. */
  readonly variables: Variables & DeploymentVariables;
  readonly logs: LogOptions;
};

const memoryMibDefault = 512;

export class PlatformFunction<F extends FunctionName> extends Construct {
  readonly name: F;
  readonly lambda: LambdaFunction;

  constructor(
    scope: Construct,
    { name, permissions, memoryMib, rolePath, ...options }: PlatformFunctionProps<F>,
    { variables, logs }: SharedFunctionProps,
  ) {
    super(scope, name);
    this.name = name;
    const logGroup = addLogGroup(this, 'Logs', logs);
    const assumedBy = new ServicePrincipal('lambda.amazonaws.com');
    const role = new Role(this, 'Role', { assumedBy, path: rolePath });
    logGroup.grantWrite(role);
    addStatements(role, permissions.statements);
    const environment = contractOf(name, { ...permissions.variables }, variables);
    checkEnvironmentSize(name, environment);
    this.lambda = new LambdaFunction(this, 'Function', {
      ...options,
      code: bundledHandler(name),
      handler: 'index.handler',
      runtime: Runtime.NODEJS_24_X,
      architecture: Architecture.ARM_64,
      memorySize: memoryMib ?? memoryMibDefault,
      role,
      logGroup,
      loggingFormat: LoggingFormat.JSON,
      applicationLogLevelV2: ApplicationLogLevel.INFO,
      systemLogLevelV2: SystemLogLevel.WARN,
      tracing: Tracing.ACTIVE,
      environment,
    });
  }
}

const addStatements = (role: Role, statements: readonly Statement[]): void => {
  for (const { because, ...statement } of statements) {
    role.addToPrincipalPolicy(new PolicyStatement(statement));
    if (because !== undefined) acknowledgeWildcards(role, statement.resources ?? [], because);
  }
  acknowledgeWildcards(role, ['*'], 'Trace segments have no resource.');
};

/** The variables of the permissions, and those of the operator that the contract names. */
const contractOf = (name: FunctionName, own: Variables, shared: Variables): Record<string, string> => {
  const known = Object.keys(environments[name].shape);
  const unknown = Object.keys(own).filter((key) => !known.includes(key));
  if (unknown.length > 0) throw new Error(`${name} does not read ${unknown.join(', ')}`);
  const given = { ...shared, ...own };
  return Object.fromEntries(known.flatMap((key) => (given[key] === undefined ? [] : [[key, given[key]]])));
};

/** Timeout, memory and retries of a function. */
export type Shape = Pick<
  PlatformFunctionProps<FunctionName>,
  'timeout' | 'memoryMib' | 'recursiveLoop' | 'retryAttempts' | 'maxEventAge'
> & {
  /** The dead-letter queue of its asynchronous invocations; absent: every caller waits for the answer, or no letter is needed. */
  readonly deadLetters?: 'turns' | 'events';
};

/** The turn holds a history; the link hashes and uploads checkpoints. Processor time grows with memory. */
const largeMib = 1024;
/** For a function that mostly waits. */
const waitingMib = 256;

/** In settings of the CDK; one that is absent stays Lambda's own. */
const limitsOf = (name: FunctionName): Pick<Shape, 'timeout' | 'retryAttempts' | 'maxEventAge'> => {
  const { timeoutSeconds, retriesMax, ageSecondsMax } = functionLimits[name];
  return {
    timeout: Duration.seconds(timeoutSeconds),
    ...(retriesMax === undefined ? {} : { retryAttempts: retriesMax }),
    ...(ageSecondsMax === undefined ? {} : { maxEventAge: Duration.seconds(ageSecondsMax) }),
  };
};

/**
 * A function that serves a moment has no dead letters: one would say no more than the alarm that counts the invocations that were
 * dropped, and would ring for a minute in which functions were throttled.
 */
export const shapes: Readonly<Record<FunctionName, Shape>> = {
  authorizer: limitsOf('authorizer'),
  socket: limitsOf('socket'),
  'on-connected': limitsOf('on-connected'),
  // A turn hands over to itself before its timeout; it counts its own hops.
  turn: {
    ...limitsOf('turn'),
    memoryMib: largeMib,
    recursiveLoop: RecursiveLoop.ALLOW,
    deadLetters: 'turns',
  },
  // A follower hands over to itself until its connection closes, which API Gateway does after two hours.
  terminal: { ...limitsOf('terminal'), memoryMib: waitingMib, recursiveLoop: RecursiveLoop.ALLOW },
  // It hands over to itself for as long as the sandbox needs it. Bytes of 64 streams wait in it.
  relay: { ...limitsOf('relay'), recursiveLoop: RecursiveLoop.ALLOW },
  'sandbox-link': { ...limitsOf('sandbox-link'), memoryMib: largeMib },
  'task-events': { ...limitsOf('task-events'), deadLetters: 'events' },
  janitor: { ...limitsOf('janitor'), deadLetters: 'events' },
  schedules: { ...limitsOf('schedules'), deadLetters: 'events' },
  // It waits for receivers and for short pauses; the sweep does the rest.
  webhooks: { ...limitsOf('webhooks'), memoryMib: waitingMib, deadLetters: 'events' },
  api: limitsOf('api'),
  mcp: limitsOf('mcp'),
  synthetic: { ...limitsOf('synthetic'), memoryMib: waitingMib },
};
