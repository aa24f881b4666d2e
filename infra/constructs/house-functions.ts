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
import type { Variables } from '#shared/config/settings.ts';
import type { Settings } from '../settings.ts';
import type { NetworkStack } from '../stacks/network-stack.ts';
import { HouseFunction, type HouseFunctionProps } from './house-function.ts';
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
  private readonly settings: Variables;

  constructor(scope: Construct, id: string, props: HouseFunctionsProps) {
    super(scope, id);
    // Whether a provider has a key is known to all who choose one; only the turn may read it.
    this.settings = { ...props.settings.variables, ...props.settings.providerKeyArns };
    const { table, tasks, door, lostEvents } = props;
    const shared = sharedNeeds(Stack.of(this), props);
    const { access, turns } = shared;
    this['sandbox-link'] = this.addLink(props);
    const sandboxes = all(shared.sandboxes, invoking('SANDBOX_LINK_FUNCTION', this['sandbox-link'].lambda));
    this.turn = this.addTurn(props, all(shared.work, sandboxes));
    this.authorizer = this.add({
      name: 'authorizer',
      needs: all(redeemingTickets(table), access),
      timeout: short,
    });
    this.greeter = this.add({
      name: 'greeter',
      needs: all(readingFrom(table), door.closing),
      timeout: short,
      // A greeting is of no use to a connection that has waited longer.
      maxEventAge: Duration.minutes(1),
    });
    const greeting = invoking('GREETER_FUNCTION', this.greeter.lambda);
    const frames = all(workingOn(table), door.closing, greeting, turns, tasks.stopping);
    this.socket = this.add({
      name: 'socket',
      needs: all(frames, access),
      timeout: socketTimeout,
    });
    this['task-events'] = this.add({
      name: 'task-events',
      needs: all(workingOn(table), door.posting, tasks.knowing),
      timeout: short,
      retryAttempts: 2,
      onFailure: new SqsDestination(lostEvents),
    });
    this.janitor = this.add({
      name: 'janitor',
      needs: all(workingOnIndexed(table, 'due'), door.posting, turns, tasks.sweeping),
      timeout: Duration.minutes(1),
      // The next minute is the retry.
      retryAttempts: 0,
    });
    const requests = all(workingOnIndexed(table, 'owner'), door.posting, turns, sandboxes);
    this.api = this.add({
      name: 'api',
      needs: all(requests, access),
      timeout: longest,
    });
  }

  get all(): readonly HouseFunction<FunctionName>[] {
    return this.node.children.filter((child) => child instanceof HouseFunction);
  }

  private add<F extends FunctionName>(props: HouseFunctionProps<F>): HouseFunction<F> {
    return new HouseFunction(this, props, this.settings);
  }

  private addTurn({ settings, lostTurns }: HouseFunctionsProps, needs: Need<EnvironmentFor<'turn'>>) {
    return this.add({
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
    return this.add({
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
  const turns = invoking('TURN_FUNCTION', turnTarget(stack, settings));
  const placement = knowing({
    SANDBOX_SUBNETS: network.vpc.isolatedSubnets.map(({ subnetId }) => subnetId).join(','),
    SANDBOX_SECURITY_GROUP: network.sandboxGroup.securityGroupId,
  });
  return {
    access: knowing({ ADMIN_TOKEN_SHA256: adminTokenHash }),
    turns,
    sandboxes: all(tasks.running, reading('SANDBOX_SECRET', sandboxSecret.secretArn), placement),
    work: all(workingOn(table), door.posting, turns, mayReadKeys(settings)),
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
