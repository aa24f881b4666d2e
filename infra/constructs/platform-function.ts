/**
 * A Lambda function of the house: `functions/<name>/handler.ts`, bundled to one file, and the rules all share.
 *
 * Its role holds its own log group, trace segments and what it needs, and no managed policy. The variables
 * are exactly those of its contract; NODE_OPTIONS is Node's own.
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
import type { Variables } from '#shared/config/settings.ts';
import { acknowledgeWildcards } from './acknowledge.ts';
import { bundledHandler } from './assets.ts';
import { checkMemoryMib, checkTimeout } from './event-rules.ts';
import { keptLog, type LogKeeping } from './log-group.ts';
import type { Need, Right } from './permission.ts';

/** What every function is told, whatever it needs. */
export type Whose = { readonly DEPLOYMENT: string };

export type HouseFunctionProps<F extends FunctionName> = {
  readonly name: F;
  readonly needs: Need<Omit<EnvironmentFor<F>, keyof Whose>>;
  readonly timeout: Duration;
  readonly memoryMib?: number;
  /** For a policy that must know the role before it is made. */
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

/** What all functions of a platform have in common. */
export type House = {
  /** The operator's, all of them: a function is given those its contract reads. */
  readonly settings: Variables & Whose;
  readonly logs: LogKeeping;
};

const memoryMibDefault = 512;

export class HouseFunction<F extends FunctionName> extends Construct {
  readonly name: F;
  readonly lambda: LambdaFunction;

  constructor(
    scope: Construct,
    { name, needs, memoryMib, rolePath, ...options }: HouseFunctionProps<F>,
    { settings, logs }: House,
  ) {
    super(scope, name);
    this.name = name;
    const logGroup = keptLog(this, 'Logs', logs);
    const assumedBy = new ServicePrincipal('lambda.amazonaws.com');
    const role = new Role(this, 'Role', { assumedBy, path: rolePath });
    logGroup.grantWrite(role);
    grant(role, needs.statements);
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
      environment: {
        ...contractOf(name, { ...needs.variables }, settings),
        NODE_OPTIONS: '--enable-source-maps',
      },
    });
  }
}

const grant = (role: Role, rights: readonly Right[]): void => {
  for (const { because, ...statement } of rights) {
    role.addToPrincipalPolicy(new PolicyStatement(statement));
    if (because !== undefined) acknowledgeWildcards(role, statement.resources ?? [], because);
  }
  acknowledgeWildcards(role, ['*'], 'Trace segments have no resource.');
};

/** What a function needs, and of the settings those its contract names. */
const contractOf = (name: FunctionName, needed: Variables, settings: Variables): Record<string, string> => {
  const known = Object.keys(environments[name].shape);
  const strangers = Object.keys(needed).filter((key) => !known.includes(key));
  if (strangers.length > 0) throw new Error(`${name} does not read ${strangers.join(', ')}`);
  const given = { ...settings, ...needed };
  return Object.fromEntries(known.flatMap((key) => (given[key] === undefined ? [] : [[key, given[key]]])));
};

/**
 * How each function runs: for how long, with how much memory, and what becomes of a call nobody waits for.
 *
 * A function that is not in the table does not compile. Those that are called and not waited for end, when their
 * tries are used up, in a queue; who calls the others sees for itself.
 */
export type Shape = Pick<
  HouseFunctionProps<FunctionName>,
  'timeout' | 'memoryMib' | 'recursiveLoop' | 'retryAttempts' | 'maxEventAge'
> & {
  /** Which queue its lost calls end in; absent: nobody calls it without waiting. */
  readonly lost?: 'turns' | 'events';
};

/** The longest a function may run. */
const longest = Duration.minutes(15);
/** API Gateway gives up after 29 s. */
const socketTimeout = Duration.seconds(29);
const short = Duration.seconds(30);
const sweepTimeout = Duration.minutes(5);
/** By then the sweeps have found what a lost wake-up was about. */
const janitorAgeMax = Duration.hours(6);
const aMinute = Duration.minutes(1);
/** The turn holds a history; the link hashes and uploads what it carries. Processor time comes with memory. */
const largeMib = 1024;
/** Of a function that waits most of its time. */
const waitingMib = 256;
/** Longer than it begins attempts for (`senderRunMs`), and one attempt. */
const senderTimeout = Duration.minutes(3);

const retried = { retryAttempts: 2, lost: 'events' } as const;

export const shapes: Readonly<Record<FunctionName, Shape>> = {
  authorizer: { timeout: short },
  socket: { timeout: socketTimeout },
  // A greeting is of no use to a connection that has waited longer.
  greeter: { ...retried, timeout: short, maxEventAge: aMinute },
  // A turn hands over to itself before its time is up; it counts its own hops.
  turn: {
    timeout: longest,
    memoryMib: largeMib,
    recursiveLoop: RecursiveLoop.ALLOW,
    retryAttempts: 2,
    lost: 'turns',
  },
  'sandbox-link': { timeout: longest, memoryMib: largeMib },
  'task-events': { ...retried, timeout: short },
  janitor: { ...retried, timeout: sweepTimeout, maxEventAge: janitorAgeMax },
  schedules: { ...retried, timeout: sweepTimeout },
  // It waits for receivers and for short pauses; the sweep takes over the rest.
  webhooks: { ...retried, timeout: senderTimeout, memoryMib: waitingMib, maxEventAge: janitorAgeMax },
  api: { timeout: longest },
  mcp: { timeout: longest },
  // The next check is the retry, and a late one is of no use: silence is what is noticed.
  synthetic: { timeout: checkTimeout, memoryMib: checkMemoryMib, retryAttempts: 0, maxEventAge: aMinute },
};
