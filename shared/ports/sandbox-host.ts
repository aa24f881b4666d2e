/** Who runs sandboxes: starts a task once per token, stops it, says what runs. ECS, or anything with these four verbs. */
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
  /** Where its server listens, once it runs. */
  readonly address?: string;
  /** Epoch milliseconds. */
  readonly createdAt: number;
  readonly stoppedReason?: string;
};

export interface SandboxHost {
  /** The task's ARN. Throws `sandbox_unavailable` for want of capacity, `sandbox_start_failed` for a refusal. */
  start(task: StartTask): Promise<string>;
  /** Asks for the stop; ECS says later that it is done. An unknown task is a stopped one. */
  stop(taskArn: string, reason: string): Promise<void>;
  /** The deployment's own tasks that run or are about to, page by page. */
  running(): AsyncIterable<readonly HostTask[]>;
  /** Those the host still knows of these, at most 100. */
  describe(taskArns: readonly string[]): Promise<readonly HostTask[]>;
}
