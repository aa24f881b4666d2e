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
import type { Settings } from '../settings.ts';
import type { NetworkStack } from '../stacks/network-stack.ts';
import { HouseFunction } from './house-function.ts';
import { all, beingInVpc, invoking, knowing, may, reading } from './need.ts';
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
    const { settings, table, tasks, door } = props;
    const access = knowing({ ADMIN_TOKEN_SHA256: props.adminTokenHash });
    // Whether a provider has a key is known to all who choose one; only the turn may read it.
    const models = knowing({ ...settings.model, ...settings.providerKeyArns });
    const lifetime = knowing(settings.lifetime);
    const choices = knowing(settings.sandbox);
    const turnTarget = this.turnTarget(settings);
    const turns = invoking('TURN_FUNCTION', turnTarget);

    this['sandbox-link'] = this.addLink(props);
    const sandboxes = all(
      tasks.running,
      invoking('SANDBOX_LINK_FUNCTION', this['sandbox-link'].lambda),
      reading('SANDBOX_SECRET', props.sandboxSecret.secretArn),
      knowing({
        SANDBOX_SUBNETS: props.network.vpc.isolatedSubnets.map(({ subnetId }) => subnetId).join(','),
        SANDBOX_SECURITY_GROUP: props.network.sandboxGroup.securityGroupId,
      }),
    );

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
    this.socket = new HouseFunction(this, {
      name: 'socket',
      needs: all(
        workingOn(table),
        access,
        door.closing,
        turns,
        tasks.stopping,
        invoking('GREETER_FUNCTION', this.greeter.lambda),
        models,
        choices,
        lifetime,
      ),
      timeout: socketTimeout,
    });
    this.turn = new HouseFunction(this, {
      name: 'turn',
      needs: all(
        workingOn(table),
        door.posting,
        turns,
        sandboxes,
        models,
        may(...keyStatements(settings)),
        knowing(settings.turn),
        lifetime,
      ),
      functionName: turnTarget.functionName,
      timeout: longest,
      memoryMib: 1024,
      // A turn hands over to itself before its time is up; it counts its own hops.
      recursiveLoop: RecursiveLoop.ALLOW,
      retryAttempts: 2,
      onFailure: new SqsDestination(props.lostTurns),
      reservedConcurrentExecutions: settings.turnConcurrencyMax,
    });
    this['task-events'] = new HouseFunction(this, {
      name: 'task-events',
      needs: all(workingOn(table), door.posting, tasks.knowing),
      timeout: short,
      retryAttempts: 2,
      onFailure: new SqsDestination(props.lostEvents),
    });
    this.janitor = new HouseFunction(this, {
      name: 'janitor',
      needs: all(workingOnIndexed(table, 'due'), door.posting, turns, tasks.sweeping, lifetime),
      timeout: Duration.minutes(1),
      // The next minute is the retry.
      retryAttempts: 0,
    });
    this.api = new HouseFunction(this, {
      name: 'api',
      needs: all(
        workingOnIndexed(table, 'owner'),
        access,
        door.posting,
        turns,
        sandboxes,
        models,
        choices,
        lifetime,
      ),
      timeout: longest,
    });
  }

  get all(): readonly HouseFunction<never>[] {
    return this.node.children.filter((child) => child instanceof HouseFunction);
  }

  /** A function can not read its own generated name, and the turn hands over to itself: it alone is named. */
  private turnTarget({ deployment }: Settings) {
    const functionName = `${deployment}-turn`;
    const functionArn = Stack.of(this).formatArn({
      service: 'lambda',
      resource: 'function',
      resourceName: functionName,
      arnFormat: ArnFormat.COLON_RESOURCE_NAME,
    });
    return { functionName, functionArn };
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

const keyStatements = ({ providerKeyArns }: Settings) => {
  const resources = Object.values(providerKeyArns);
  return resources.length === 0 ? [] : [{ actions: ['secretsmanager:GetSecretValue'], resources }];
};
