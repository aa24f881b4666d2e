/**
 * What runs: the functions, the sandboxes they start, the WebSocket they answer on, and what wakes them.
 *
 * The image stands beside the functions because they speak one protocol, and because a task definition's
 * new revision could not leave a stack of its own while this one imports the old.
 */
import { Stack } from 'aws-cdk-lib';
import type { Queue } from 'aws-cdk-lib/aws-sqs';
import type { Construct } from 'constructs';
import { ControlPlane } from '../constructs/control-plane.ts';
import type { HouseFunctions } from '../constructs/house-functions.ts';
import type { RealtimeApi } from '../constructs/realtime-api.ts';
import type { Settings } from '../settings.ts';
import type { DataStack } from './data-stack.ts';
import type { NetworkStack } from './network-stack.ts';

export type ComputeStackProps = {
  readonly settings: Settings;
  readonly data: DataStack;
  readonly network: NetworkStack;
};

export class ComputeStack extends Stack {
  readonly functions: HouseFunctions;
  readonly socket: RealtimeApi;
  readonly lostTurns: Queue;
  readonly lostEvents: Queue;

  constructor(scope: Construct, id: string, { settings, data, network }: ComputeStackProps) {
    super(scope, id, { description: 'Sallyport: functions, sandboxes and the WebSocket' });
    // API Gateway refuses a stage with logs until the account's role stands.
    this.addStackDependency(data);
    // Named so that it adds nothing to the names of what is in it.
    const plane = new ControlPlane(this, 'Default', { settings, data: data.data, network: network.network });
    this.functions = plane.functions;
    this.socket = plane.socket;
    this.lostTurns = plane.lostTurns;
    this.lostEvents = plane.lostEvents;
  }
}
