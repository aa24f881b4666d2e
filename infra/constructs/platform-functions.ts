/**
 * The functions of the platform, each with what it needs: the one place where rights are handed out.
 *
 * Read it as a table: a function's needs add up to its environment contract, and are all it may do.
 */
import { Stack } from 'aws-cdk-lib';
import { SubnetType } from 'aws-cdk-lib/aws-ec2';
import { SqsDestination } from 'aws-cdk-lib/aws-lambda-destinations';
import type { IQueue } from 'aws-cdk-lib/aws-sqs';
import { Construct } from 'constructs';
import type { EnvironmentFor, FunctionName } from '#shared/config/environment.ts';
import { variablesOf } from '../settings.ts';
import { checking } from './event-rules.ts';
import { type SharedNeedsProps, sharedNeeds, turnTarget } from './function-permissions.ts';
import type { LogKeeping } from './log-group.ts';
import { all, beingInVpc, invoking, knowing, type Need } from './permission.ts';
import {
  type House,
  HouseFunction,
  type HouseFunctionProps,
  shapes,
  type Whose,
} from './platform-function.ts';
import { ScheduleGroup } from './schedule-group.ts';
import { forgettingWorkspaces, savingWorkspaces } from './storage-permissions.ts';
import {
  checkingCredentials,
  deletingMany,
  keepingWebhooks,
  type Reach,
  readingFrom,
  removingWebhooks,
  sendingWebhooks,
  tellingWebhooks,
  workingOn,
  workingOnIndexed,
} from './table-permissions.ts';

export type HouseFunctionsProps = SharedNeedsProps & {
  readonly logs: LogKeeping;
  readonly lostTurns: IQueue;
  readonly lostEvents: IQueue;
};

/** Whoever answers people keeps what credentials are made of, and says what was done with them. */
const askedByTools: Reach = {
  on: ['work', 'schedules', 'calls', 'rates', 'tokens', 'tokenIds'],
  appending: ['audit'],
};
const askedByPeople: Reach = {
  on: ['work', 'schedules', 'rates', 'tokens', 'tokenIds', 'tickets', 'previews'],
  reading: ['audit'],
  appending: ['audit'],
};
/** The janitor empties projects that were deleted: of their tokens and schedules, too, and says so. */
const emptied: Reach = {
  on: ['work', 'schedules'],
  appending: ['audit'],
  deleting: ['tokens', 'tokenIds'],
};

export class HouseFunctions extends Construct {
  readonly authorizer: HouseFunction<'authorizer'>;
  readonly socket: HouseFunction<'socket'>;
  readonly greeter: HouseFunction<'greeter'>;
  readonly turn: HouseFunction<'turn'>;
  readonly 'sandbox-link': HouseFunction<'sandbox-link'>;
  readonly 'task-events': HouseFunction<'task-events'>;
  readonly janitor: HouseFunction<'janitor'>;
  readonly schedules: HouseFunction<'schedules'>;
  readonly api: HouseFunction<'api'>;
  readonly mcp: HouseFunction<'mcp'>;
  readonly webhooks: HouseFunction<'webhooks'>;
  readonly synthetic: HouseFunction<'synthetic'>;
  private readonly house: House;
  private readonly props: HouseFunctionsProps;

  constructor(scope: Construct, id: string, props: HouseFunctionsProps) {
    super(scope, id);
    // Whether a provider has a key is known to all who choose one; the turn and the model list may read it.
    const { data, sandboxes, door, settings, logs } = props;
    this.props = props;
    this.house = { settings: { ...variablesOf(settings), DEPLOYMENT: settings.deployment }, logs };
    const shared = sharedNeeds(Stack.of(this), props);
    const { access, turns, models, secrets } = shared;
    this['sandbox-link'] = this.addLink();
    this.webhooks = this.add('webhooks', sendingWebhooks(data));
    const sending = invoking('WEBHOOKS_FUNCTION', this.webhooks.lambda);
    // A function that moves a turn, loses a sandbox or ends a run has events for webhooks.
    const telling = all(tellingWebhooks(data), sending);
    const boxes = shared.sandboxesBy(this['sandbox-link'].lambda);
    const sweeping = all(sandboxes.sweeping, forgettingWorkspaces(data.workspaces), secrets.clearing);
    const due = all(workingOnIndexed(data, 'due', emptied), deletingMany(data, { on: ['work'] }));
    const emptying = workingOnIndexed(data, 'owner', emptied);
    this.janitor = this.add(
      'janitor',
      all(due, emptying, door.posting, turns, boxes, sweeping, telling, removingWebhooks(data)),
    );
    const cleaning = invoking('JANITOR_FUNCTION', this.janitor.lambda);
    const work = all(workingOn(data, { on: ['work'] }), door.posting, cleaning, telling);
    this.turn = this.add('turn', all(work, turns, models, boxes, secrets.reading), {
      functionName: turnTarget(Stack.of(this), settings).functionName,
    });
    this.authorizer = this.add('authorizer', all(checkingCredentials(data), access));
    this.greeter = this.add('greeter', all(readingFrom(data, { on: ['work'] }), door.closing));
    const greeting = invoking('GREETER_FUNCTION', this.greeter.lambda);
    // Each frame asks whether its token still holds, in one request with what it is about.
    const frames = workingOn(data, { on: ['work', 'rates'], reading: ['tokens'], appending: ['audit'] });
    this.socket = this.add('socket', all(frames, door.closing, greeting, turns, cleaning, access, telling));
    this['task-events'] = this.add('task-events', work);
    const runs: Reach = { on: ['work', 'schedules'], reading: ['tokens'], appending: ['audit'] };
    const running = all(workingOnIndexed(data, 'due', runs), deletingMany(data, runs));
    this.schedules = this.addSchedules(all(running, door.posting, turns, cleaning, access, telling));
    const tending = invoking('SCHEDULES_FUNCTION', this.schedules.lambda);
    const requests = all(door.posting, turns, boxes, cleaning, tending, access, telling);
    const asking = all(workingOnIndexed(data, 'owner', askedByPeople), requests);
    this.api = this.add('api', all(asking, models, secrets.keeping, keepingWebhooks(data)));
    const tools = all(workingOnIndexed(data, 'owner', askedByTools), deletingMany(data, runs));
    this.mcp = this.add('mcp', all(tools, requests));
    this.synthetic = this.add('synthetic', checking(data));
  }

  get all(): readonly HouseFunction<FunctionName>[] {
    return this.node.children.filter((child) => child instanceof HouseFunction);
  }

  private add<F extends FunctionName>(
    name: F,
    needs: HouseFunctionProps<F>['needs'],
    options: Partial<HouseFunctionProps<F>> = {},
  ): HouseFunction<F> {
    const { lost, ...shape } = shapes[name];
    const { settings, lostTurns, lostEvents } = this.props;
    const props = {
      ...shape,
      ...options,
      name,
      needs,
      reservedConcurrentExecutions: settings.reservedConcurrency[name],
      ...(lost && { onFailure: new SqsDestination(lost === 'turns' ? lostTurns : lostEvents) }),
    };
    return new HouseFunction(this, props, this.house);
  }

  /** It asks the scheduler to invoke it, so it is named before it is made. */
  private addSchedules(needs: Need<Omit<EnvironmentFor<'schedules'>, `SCHEDULE_${string}` | keyof Whose>>) {
    const { settings, lostEvents } = this.props;
    const { deployment } = settings;
    const { arming, target } = new ScheduleGroup(this, 'Schedules', { deployment, lostEvents });
    return this.add('schedules', all(needs, arming), { functionName: target.functionName });
  }

  private addLink(): HouseFunction<'sandbox-link'> {
    const { network, data } = this.props;
    const address = knowing({ SANDBOX_ADDRESS_RANGE: network.vpc.vpcCidrBlock });
    return this.add('sandbox-link', all(address, savingWorkspaces(data), beingInVpc), {
      rolePath: network.linkRolePath,
      vpc: network.vpc,
      vpcSubnets: { subnetType: SubnetType.PRIVATE_ISOLATED },
      securityGroups: [network.linkGroup],
    });
  }
}
