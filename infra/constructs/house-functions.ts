/**
 * The functions of the platform, each with what it needs: the one place where rights are handed out.
 *
 * Read it as a table: a function's needs add up to its environment contract, and are all it may do.
 */
import { ArnFormat, Duration, Stack } from 'aws-cdk-lib';
import type { ITableV2 } from 'aws-cdk-lib/aws-dynamodb';
import { SubnetType } from 'aws-cdk-lib/aws-ec2';
import { RecursiveLoop } from 'aws-cdk-lib/aws-lambda';
import { SqsDestination } from 'aws-cdk-lib/aws-lambda-destinations';
import type { ISecret } from 'aws-cdk-lib/aws-secretsmanager';
import type { IQueue } from 'aws-cdk-lib/aws-sqs';
import { Construct } from 'constructs';
import type { EnvironmentFor, FunctionName } from '#shared/config/environment.ts';
import type { Settings } from '../settings.ts';
import type { NetworkStack } from '../stacks/network-stack.ts';
import { HouseFunction } from './house-function.ts';
import { all, beingInVpc, invoking, knowing, may, type Need, reading } from './need.ts';
import type { SandboxTasks } from './sandbox-tasks.ts';
import type { SocketDoor } from './socket-door.ts';
import { readingFrom, redeemingTickets, workingOn, workingOnIndexed } from './table-need.ts';

export type HouseFunctionsProps = {
  readonly settings: Settings;
  readonly adminTokenHash: string;
  readonly table: ITableV2;
  readonly sandboxSecret: ISecret;
  readonly network: NetworkStack;
  readonly tasks: SandboxTasks;
  readonly door: SocketDoor;
  readonly lostTurns: IQueue;
  readonly lostEvents: IQueue;
};

/** The longest a function may run. */
const longest = Duration.minutes(15);
/** API Gateway gives up after 29 s. */
const socketTimeout = Duration.seconds(29);
const short = Duration.seconds(30);
const turnMemoryMib = 1024;

export class HouseFunctions extends Construct {
  readonly authorizer: HouseFunction<'authorizer'>;
  readonly socket: HouseFunction<'socket'>;
  readonly greeter: HouseFunction<'greeter'>;
  readonly turn: HouseFunction<'turn'>;
  readonly 'sandbox-link': HouseFunction<'sandbox-link'>;
  readonly 'task-events': HouseFunction<'task-events'>;
  readonly janitor: HouseFunction<'janitor'>;
  readonly api: HouseFunction<'api'>;

  constructor(scope: Construct, id: string, props: HouseFunctionsProps) {
    super(scope, id);
    const { table, tasks, door, lostEvents } = props;
    const shared = sharedNeeds(Stack.of(this), props);
    const { access, models, turns, choices, lifetime } = shared;
    this['sandbox-link'] = this.addLink(props);
    const sandboxes = all(shared.sandboxes, invoking('SANDBOX_LINK_FUNCTION', this['sandbox-link'].lambda));
    this.turn = this.addTurn(props, all(shared.work, sandboxes));
    this.authorizer = new HouseFunction(this, {
      name: 'authorizer',
      needs: all(redeemingTickets(table), access),
      timeout: short,
    });
    this.greeter = new HouseFunction(this, {
      name: 'greeter',
      needs: all(readingFrom(table), door.closing, models),
      timeout: short,
      // A greeting is of no use to a connection that has waited longer.
      maxEventAge: Duration.minutes(1),
    });
    const greeting = invoking('GREETER_FUNCTION', this.greeter.lambda);
    const frames = all(workingOn(table), door.closing, greeting, turns, tasks.stopping);
    this.socket = new HouseFunction(this, {
      name: 'socket',
      needs: all(frames, access, models, choices, lifetime),
      timeout: socketTimeout,
    });
    this['task-events'] = new HouseFunction(this, {
      name: 'task-events',
      needs: all(workingOn(table), door.posting, tasks.knowing),
      timeout: short,
      retryAttempts: 2,
      onFailure: new SqsDestination(lostEvents),
    });
    this.janitor = new HouseFunction(this, {
      name: 'janitor',
      needs: all(workingOnIndexed(table, 'due'), door.posting, turns, tasks.sweeping, lifetime),
      timeout: Duration.minutes(1),
      // The next minute is the retry.
      retryAttempts: 0,
    });
    const requests = all(workingOnIndexed(table, 'owner'), door.posting, turns, sandboxes);
    this.api = new HouseFunction(this, {
      name: 'api',
      needs: all(requests, access, models, choices, lifetime),
      timeout: longest,
    });
  }

  get all(): readonly HouseFunction<FunctionName>[] {
    return this.node.children.filter((child) => child instanceof HouseFunction);
  }

  private addTurn({ settings, lostTurns }: HouseFunctionsProps, needs: Need<EnvironmentFor<'turn'>>) {
    return new HouseFunction(this, {
      name: 'turn',
      needs,
      functionName: turnTarget(Stack.of(this), settings).functionName,
      timeout: longest,
      memoryMib: turnMemoryMib,
      // A turn hands over to itself before its time is up; it counts its own hops.
      recursiveLoop: RecursiveLoop.ALLOW,
      retryAttempts: 2,
      onFailure: new SqsDestination(lostTurns),
      reservedConcurrentExecutions: settings.turnConcurrencyMax,
    });
  }

  private addLink({ network }: HouseFunctionsProps): HouseFunction<'sandbox-link'> {
    return new HouseFunction(this, {
      name: 'sandbox-link',
      needs: all(knowing({ SANDBOX_ADDRESS_RANGE: network.vpc.vpcCidrBlock }), beingInVpc),
      timeout: longest,
      vpc: network.vpc,
      vpcSubnets: { subnetType: SubnetType.PRIVATE_ISOLATED },
      securityGroups: [network.linkGroup],
    });
  }
}

/** What several functions need. */
const sharedNeeds = (
  stack: Stack,
  { settings, adminTokenHash, table, sandboxSecret, network, tasks, door }: HouseFunctionsProps,
) => {
  // Whether a provider has a key is known to all who choose one; only the turn may read it.
  const models = knowing({ ...settings.model, ...settings.providerKeyArns });
  const lifetime = knowing(settings.lifetime);
  const turns = invoking('TURN_FUNCTION', turnTarget(stack, settings));
  const placement = knowing({
    SANDBOX_SUBNETS: network.vpc.isolatedSubnets.map(({ subnetId }) => subnetId).join(','),
    SANDBOX_SECURITY_GROUP: network.sandboxGroup.securityGroupId,
  });
  return {
    access: knowing({ ADMIN_TOKEN_SHA256: adminTokenHash }),
    models,
    turns,
    lifetime,
    choices: knowing(settings.sandbox),
    sandboxes: all(tasks.running, reading('SANDBOX_SECRET', sandboxSecret.secretArn), placement),
    work: all(
      workingOn(table),
      door.posting,
      turns,
      models,
      mayReadKeys(settings),
      knowing(settings.turn),
      lifetime,
    ),
  };
};

const mayReadKeys = ({ providerKeyArns }: Settings): Need<object> => {
  const resources = Object.values(providerKeyArns);
  return resources.length === 0 ? may() : may({ actions: ['secretsmanager:GetSecretValue'], resources });
};

/** A function can not read its own generated name, and the turn hands over to itself: it alone is named. */
const turnTarget = (stack: Stack, { deployment }: Settings) => {
  const functionName = `${deployment}-turn`;
  const functionArn = stack.formatArn({
    service: 'lambda',
    resource: 'function',
    resourceName: functionName,
    arnFormat: ArnFormat.COLON_RESOURCE_NAME,
  });
  return { functionName, functionArn };
};
