/**
 * What runs: the functions, the sandboxes they start, the WebSocket they answer on, and what wakes them.
 *
 * The image stands beside the functions because they speak one protocol, and because a task definition's
 * new revision could not leave a stack of its own while this one imports the old.
 */
import { CfnParameter, Duration, Stack } from 'aws-cdk-lib';
import { Rule, RuleTargetInput, Schedule } from 'aws-cdk-lib/aws-events';
import { LambdaFunction } from 'aws-cdk-lib/aws-events-targets';
import { Queue, QueueEncryption } from 'aws-cdk-lib/aws-sqs';
import type { Construct } from 'constructs';
import { acknowledge } from '../constructs/acknowledge.ts';
import { HouseFunctions } from '../constructs/house-functions.ts';
import { SandboxTasks } from '../constructs/sandbox-tasks.ts';
import { SocketDoor } from '../constructs/socket-door.ts';
import { type Settings, sharedGuestPathOf } from '../settings.ts';
import type { DataStack } from './data-stack.ts';
import { type NetworkStack, sandboxPort } from './network-stack.ts';

export type ComputeStackProps = {
  readonly settings: Settings;
  readonly data: DataStack;
  readonly network: NetworkStack;
};

/** The longest SQS keeps a message. */
const lostDaysMax = 14;

type Sweep = {
  readonly sweep: string;
  readonly minutes: number;
  /** How long it stays for what becomes due: less than until the next. */
  readonly forSeconds?: number;
};

/** What the janitor looks at, and how often (`shared/contracts/janitor-task.ts`). */
const sweeps: readonly Sweep[] = [
  { sweep: 'due', minutes: 1 },
  { sweep: 'places', minutes: 5 },
  { sweep: 'orphans', minutes: 10 },
  { sweep: 'mcp', minutes: 1, forSeconds: 50 },
];

export class ComputeStack extends Stack {
  readonly functions: HouseFunctions;
  readonly socket: SocketDoor;
  /** Invocations of the turn that failed for good. */
  readonly lostTurns: Queue;
  /** Task state changes and wake-ups that were never handled, and calls of the janitor that failed for good. */
  readonly lostEvents: Queue;

  constructor(scope: Construct, id: string, { settings, data, network }: ComputeStackProps) {
    super(scope, id, { description: 'Sallyport: functions, sandboxes and the WebSocket' });
    // API Gateway refuses a stage with logs until the account's role stands.
    this.addStackDependency(data);
    this.lostTurns = this.addLostQueue('LostTurns');
    this.lostEvents = this.addLostQueue('LostEvents');
    this.socket = new SocketDoor(this, 'Socket', settings);
    const tasks = new SandboxTasks(this, 'Sandboxes', {
      vpc: network.vpc,
      deployment: settings.deployment,
      port: sandboxPort,
      sharedGuestPath: sharedGuestPathOf(settings),
    });
    this.functions = new HouseFunctions(this, 'Functions', {
      settings,
      adminTokenHash: this.addAdminTokenHash(),
      table: data.table,
      workspaces: data.workspaces,
      sandboxSecret: data.sandboxSecret,
      network,
      tasks,
      door: this.socket,
      lostTurns: this.lostTurns,
      lostEvents: this.lostEvents,
    });
    this.socket.route({ authorizer: this.functions.authorizer.lambda, socket: this.functions.socket.lambda });
    for (const sweep of sweeps) this.addSweep(sweep);
    this.addScheduleSweep();
    this.addTaskEvents(tasks);
  }

  /** `--parameters <stack>:AdminTokenSha256=$(printf %s "$TOKEN" | sha256sum | cut -c1-64)` */
  private addAdminTokenHash(): string {
    const parameter = new CfnParameter(this, 'AdminTokenSha256', {
      description: 'The SHA-256 of the admin token, in hexadecimal; the token itself is stored nowhere',
      allowedPattern: '[0-9a-f]{64}',
      constraintDescription: '64 hexadecimal digits in lower case',
      noEcho: true,
    });
    return parameter.valueAsString;
  }

  private addLostQueue(id: string): Queue {
    const queue = new Queue(this, id, {
      encryption: QueueEncryption.SQS_MANAGED,
      enforceSSL: true,
      retentionPeriod: Duration.days(lostDaysMax),
    });
    acknowledge(queue, 'SQS3', 'It is where failed invocations end: nothing reads it but a person.');
    return queue;
  }

  private addSweep({ minutes, ...task }: Sweep): void {
    const target = new LambdaFunction(this.functions.janitor.lambda, {
      event: RuleTargetInput.fromObject(task),
      // The next one is the retry.
      retryAttempts: 0,
    });
    new Rule(this, `Sweep-${task.sweep}`, {
      description: `The sweep of ${task.sweep}`,
      schedule: Schedule.rate(Duration.minutes(minutes)),
      targets: [target],
    });
  }

  private addScheduleSweep(): void {
    const target = new LambdaFunction(this.functions.schedules.lambda, {
      event: RuleTargetInput.fromObject({ sweep: 'schedules' }),
      // The next one is the retry.
      retryAttempts: 0,
    });
    new Rule(this, 'Sweep-schedules', {
      description: 'The sweep of schedules',
      schedule: Schedule.rate(Duration.minutes(1)),
      targets: [target],
    });
  }

  private addTaskEvents({ cluster }: SandboxTasks): void {
    const target = new LambdaFunction(this.functions['task-events'].lambda, {
      deadLetterQueue: this.lostEvents,
      retryAttempts: 10,
      maxEventAge: Duration.hours(1),
    });
    new Rule(this, 'TaskStateChange', {
      description: 'What ECS says of the sandboxes',
      eventPattern: {
        source: ['aws.ecs'],
        detailType: ['ECS Task State Change'],
        detail: { clusterArn: [cluster.clusterArn] },
      },
      targets: [target],
    });
  }
}
