/**
 * A Lambda function of the house: `functions/<name>/handler.ts`, bundled to one file, and the rules all share.
 *
 * Its role holds its own log group, trace segments and what it needs, and no managed policy. The variables
 * are exactly those of its contract; NODE_OPTIONS is Node's own.
 */
import type { Duration } from 'aws-cdk-lib';
import { PolicyStatement, Role, ServicePrincipal } from 'aws-cdk-lib/aws-iam';
import {
  ApplicationLogLevel,
  Architecture,
  type FunctionOptions,
  Function as LambdaFunction,
  LoggingFormat,
  Runtime,
  SystemLogLevel,
  Tracing,
} from 'aws-cdk-lib/aws-lambda';
import { Construct } from 'constructs';
import { type EnvironmentFor, environments, type FunctionName } from '#shared/config/environment.ts';
import type { Variables } from '#shared/config/settings.ts';
import { acknowledgeWildcards } from './acknowledge.ts';
import { bundledHandler } from './bundle.ts';
import { keptLog, type LogKeeping } from './kept-log.ts';
import type { Need, Right } from './need.ts';

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
