/**
 * The functions of the platform, each with what it needs: the one place where rights are handed out.
 *
 * Read it as a table: a function's needs add up to its environment contract, and are all it may do.
 */
import { Duration, Stack } from 'aws-cdk-lib';
import { SubnetType } from 'aws-cdk-lib/aws-ec2';
import { RecursiveLoop } from 'aws-cdk-lib/aws-lambda';
import { SqsDestination } from 'aws-cdk-lib/aws-lambda-destinations';
import type { IQueue } from 'aws-cdk-lib/aws-sqs';
import { Construct } from 'constructs';
import type { EnvironmentFor, FunctionName } from '#shared/config/environment.ts';
import type { Variables } from '#shared/config/settings.ts';
import { HouseFunction, type HouseFunctionProps } from './house-function.ts';
import { all, beingInVpc, invoking, knowing, type Need } from './need.ts';
import {
  clearingProjectSecrets,
  keepingProjectSecrets,
  readingProjectSecrets,
} from './project-secrets-need.ts';
import { ScheduleGroup } from './schedule-group.ts';
import { type SharedNeedsProps, sharedNeeds, turnTarget } from './shared-needs.ts';
import { checkingCredentials, deletingMany, readingFrom, workingOn, workingOnIndexed } from './table-need.ts';
import { forgettingWorkspaces, savingWorkspaces } from './workspace-need.ts';

export type HouseFunctionsProps = SharedNeedsProps & {
  readonly lostTurns: IQueue;
  readonly lostEvents: IQueue;
};

/** The longest a function may run. */
const longest = Duration.minutes(15);
/** API Gateway gives up after 29 s. */
const socketTimeout = Duration.seconds(29);
const short = Duration.seconds(30);
const sweepTimeout = Duration.minutes(5);
/** By then the sweeps have found what a lost wake-up was about. */
const janitorAgeMax = Duration.hours(6);
const turnMemoryMib = 1024;
/** It hashes and uploads what it carries; processor time comes with memory. */
const linkMemoryMib = 1024;

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
  private readonly settings: Variables;

  constructor(scope: Construct, id: string, props: HouseFunctionsProps) {
    super(scope, id);
    // Whether a provider has a key is known to all who choose one; the turn and the model list may read it.
    this.settings = { ...props.settings.variables, ...props.settings.providerKeyArns };
    const { table, tasks, door, workspaces, settings } = props;
    const { access, turns, work, models, sandboxesBy } = sharedNeeds(Stack.of(this), props);
    this['sandbox-link'] = this.addLink(props);
    const sandboxes = sandboxesBy(this['sandbox-link'].lambda);
    const secrets = readingProjectSecrets(Stack.of(this), settings);
    const clearing = clearingProjectSecrets(Stack.of(this), settings);
    const sweeping = all(tasks.sweeping, forgettingWorkspaces(workspaces), clearing);
    this.janitor = this.addJanitor(
      props,
      all(workingOnIndexed(table, 'due'), deletingMany(table), door.posting, turns, sandboxes, sweeping),
    );
    const cleaning = invoking('JANITOR_FUNCTION', this.janitor.lambda);
    this.turn = this.addTurn(props, all(work, models, sandboxes, cleaning, secrets));
    this.authorizer = this.add({
      name: 'authorizer',
      needs: all(checkingCredentials(table), access),
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
    const frames = all(workingOn(table), door.closing, greeting, turns, cleaning);
    this.socket = this.add({
      name: 'socket',
      needs: all(frames, access),
      timeout: socketTimeout,
    });
    this['task-events'] = this.add({
      name: 'task-events',
      needs: all(workingOn(table), door.posting, cleaning, tasks.knowing),
      timeout: short,
      retryAttempts: 2,
      onFailure: new SqsDestination(props.lostEvents),
    });
    const talking = all(workingOnIndexed(table, 'due'), deletingMany(table), door.posting, turns, cleaning);
    this.schedules = this.addSchedules(props, all(talking, access));
    const tending = invoking('SCHEDULES_FUNCTION', this.schedules.lambda);
    const requests = all(workingOnIndexed(table, 'owner'), door.posting, turns, sandboxes, cleaning, tending);
    const keeping = keepingProjectSecrets(Stack.of(this), settings);
    this.api = this.add({ name: 'api', needs: all(requests, access, models, keeping), timeout: longest });
    this.mcp = this.add({ name: 'mcp', needs: all(requests, access, deletingMany(table)), timeout: longest });
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

  private addJanitor({ lostEvents }: HouseFunctionsProps, needs: Need<EnvironmentFor<'janitor'>>) {
    return this.add({
      name: 'janitor',
      needs,
      timeout: sweepTimeout,
      retryAttempts: 2,
      maxEventAge: janitorAgeMax,
      onFailure: new SqsDestination(lostEvents),
    });
  }

  /** It asks the scheduler to invoke it, so it is named before it is made. */
  private addSchedules(
    { settings, lostEvents }: HouseFunctionsProps,
    needs: Need<Omit<EnvironmentFor<'schedules'>, `SCHEDULE_${string}`>>,
  ) {
    const { arming, target } = new ScheduleGroup(this, 'Schedules', { settings, lostEvents });
    return this.add({
      name: 'schedules',
      needs: all(needs, arming),
      functionName: target.functionName,
      timeout: sweepTimeout,
      retryAttempts: 2,
      onFailure: new SqsDestination(lostEvents),
    });
  }

  private addLink({ network, workspaces }: HouseFunctionsProps): HouseFunction<'sandbox-link'> {
    const address = knowing({ SANDBOX_ADDRESS_RANGE: network.vpc.vpcCidrBlock });
    return this.add({
      name: 'sandbox-link',
      needs: all(address, savingWorkspaces(workspaces), beingInVpc),
      timeout: longest,
      memoryMib: linkMemoryMib,
      rolePath: network.linkRolePath,
      vpc: network.vpc,
      vpcSubnets: { subnetType: SubnetType.PRIVATE_ISOLATED },
      securityGroups: [network.linkGroup],
    });
  }
}
