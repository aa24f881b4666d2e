/**
 * A Lambda function of the house: `functions/<name>/handler.ts`, bundled to one file, and the rules all share.
 *
 * Its role holds its own log group, trace segments and what it needs, and no managed policy. The variables
 * are exactly those of its contract; NODE_OPTIONS is Node's own.
 */
import { type Duration, RemovalPolicy } from 'aws-cdk-lib';
import { PolicyStatement, Role, ServicePrincipal } from 'aws-cdk-lib/aws-iam';
import {
  ApplicationLogLevel,
  Architecture,
  type FunctionOptions,
  LoggingFormat,
  Runtime,
  SystemLogLevel,
  Tracing,
} from 'aws-cdk-lib/aws-lambda';
import {
  type BundlingOptions,
  NodejsFunction,
  OutputFormat,
  SourceMapMode,
} from 'aws-cdk-lib/aws-lambda-nodejs';
import { LogGroup, RetentionDays } from 'aws-cdk-lib/aws-logs';
import { Construct } from 'constructs';
import { type EnvironmentFor, environments, type FunctionName } from '#shared/config/environment.ts';
import { acknowledge } from './acknowledge.ts';
import type { Need } from './need.ts';
import { inRepository } from './repository.ts';

export type HouseFunctionProps<F extends FunctionName> = {
  readonly name: F;
  readonly needs: Need<EnvironmentFor<F>>;
  readonly timeout: Duration;
  readonly memoryMib?: number;
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

const memoryMibDefault = 512;

/** Some packages still call `require`, which a bundle in ES modules lacks. */
const banner = "import{createRequire as r}from'node:module';const require=r(import.meta.url);";

const bundling: BundlingOptions = {
  format: OutputFormat.ESM,
  target: 'node24',
  // The default order takes CommonJS builds first, which can not start inside an ES module.
  mainFields: ['module', 'main'],
  // The SDK of the runtime is not the version that was tested.
  externalModules: [],
  minify: true,
  keepNames: true,
  sourceMap: true,
  sourceMapMode: SourceMapMode.DEFAULT,
  sourcesContent: false,
  banner,
  logLevel: undefined,
};

export class HouseFunction<F extends FunctionName> extends Construct {
  readonly name: F;
  readonly lambda: NodejsFunction;

  constructor(scope: Construct, { name, needs, memoryMib, ...options }: HouseFunctionProps<F>) {
    super(scope, name);
    this.name = name;
    const logGroup = new LogGroup(this, 'Logs', {
      retention: RetentionDays.ONE_MONTH,
      removalPolicy: RemovalPolicy.DESTROY,
    });
    const role = new Role(this, 'Role', { assumedBy: new ServicePrincipal('lambda.amazonaws.com') });
    logGroup.grantWrite(role);
    for (const statement of needs.statements) role.addToPrincipalPolicy(new PolicyStatement(statement));
    acknowledge(
      role,
      'IAM5[Resource::*]',
      'Trace segments and the network interfaces of a function in a VPC have no ARN to name.',
    );
    this.lambda = new NodejsFunction(this, 'Function', {
      ...options,
      entry: inRepository(`functions/${name}/handler.ts`),
      projectRoot: inRepository('.'),
      depsLockFilePath: inRepository('package-lock.json'),
      runtime: Runtime.NODEJS_24_X,
      architecture: Architecture.ARM_64,
      memorySize: memoryMib ?? memoryMibDefault,
      role,
      logGroup,
      loggingFormat: LoggingFormat.JSON,
      applicationLogLevelV2: ApplicationLogLevel.INFO,
      systemLogLevelV2: SystemLogLevel.WARN,
      tracing: Tracing.ACTIVE,
      awsSdkConnectionReuse: false,
      environment: { ...contractOf(name, needs.variables), NODE_OPTIONS: '--enable-source-maps' },
      bundling,
    });
  }
}

/** Only the contract's keys, and of those the ones that are set. */
const contractOf = (name: FunctionName, variables: object): Record<string, string> => {
  const known = Object.keys(environments[name].shape);
  const set = Object.entries(variables).filter((entry): entry is [string, string] => entry[1] !== undefined);
  const strangers = set.map(([key]) => key).filter((key) => !known.includes(key));
  if (strangers.length > 0) throw new Error(`${name} does not read ${strangers.join(', ')}`);
  return Object.fromEntries(set);
};
