/** What an invocation of the turn function works with. */
import type { FeaturesSeen } from '../../domain/features.ts';
import type { SessionId } from '../../domain/ids.ts';
import type { Invoker } from '../../ports/invoker.ts';
import type { AudiencePorts } from '../events/audience.ts';
import type { ModelPorts } from './call-model.ts';
import type { DeskLimits } from './desk.ts';
import type { ToolPorts } from './run-tools.ts';
import type { TurnWatch } from './turn-watch.ts';

export type TurnPorts = ToolPorts & ModelPorts & AudiencePorts & { readonly invoker: Invoker };

export type TurnSettings = {
  readonly limits: DeskLimits;
  readonly outputTokensMax: number;
  /** How long the lease of a turn is held without being renewed, in milliseconds. */
  readonly leaseMs: number;
};

export type TurnInvocation = {
  readonly sessionId: SessionId;
  readonly settings: TurnSettings;
  readonly correlationId: string;
  /** Says whose message is worked on from now on, so that the log follows it and not whoever woke the turn. */
  readonly follow?: (correlationId: string) => void;
  /** Epoch milliseconds at which the function is ended. */
  readonly deadlineAt: number;
  /** How often this work was handed over already. */
  readonly hops: number;
  /** The features of the deployment, as the function that woke this one saw them. */
  readonly seen?: FeaturesSeen | undefined;
};

/** One invocation at work; its watch is replaced as the turn is read again. */
export type Run = TurnInvocation & { watch: TurnWatch };
