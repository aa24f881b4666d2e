/**
 * The host of sandboxes: starts a task once per token, stops it, lists and describes tasks. ECS, or anything with
 * these four verbs.
 */
import type { Flavor, Template } from '../domain/flavor.ts';

export type StartTask = {
  /** The same token with the same request gives the same task. */
  readonly token: string;
  /** Comes back in every state event of the task. */
  readonly group: string;
  readonly flavor: Flavor;
  readonly template: Template;
  /** SHA-256 of the bearer that the sandbox accepts, in hexadecimal. */
  readonly bearerHash: string;
};

/** A task as the host describes it. */
export type HostTask = {
  readonly taskArn: string;
  readonly group: string;
  readonly lastStatus: string;
  /** The address of its server, once it runs. */
  readonly address?: string;
  /** Epoch milliseconds. */
  readonly createdAt: number;
  readonly stoppedReason?: string;
};

export interface SandboxHost {
  /** The task's ARN. Throws `sandbox_unavailable` for lack of capacity, `sandbox_start_failed` for a refusal. */
  start(task: StartTask): Promise<string>;
  /** Requests the stop; ECS reports later that it is done. An unknown task counts as stopped. */
  stop(taskArn: string, reason: string): Promise<void>;
  /** The deployment's own tasks that run or are about to, page by page. */
  running(): AsyncIterable<readonly HostTask[]>;
  /** The tasks among these that the host still knows, at most 100. */
  describe(taskArns: readonly string[]): Promise<readonly HostTask[]>;
}
