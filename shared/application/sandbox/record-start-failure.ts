/** A sandbox that never became ready: counted once, with its reason, by the caller that ends its generation. */
import type { ProjectId, WorkspaceId } from '../../domain/ids.ts';
import type { SandboxRecord } from '../../domain/sandbox.ts';
import type { Telemetry } from '../../ports/telemetry.ts';

export const recordStartFailure = (
  telemetry: Telemetry,
  {
    workspaceId,
    project,
    sandbox,
  }: {
    readonly workspaceId: WorkspaceId;
    readonly project?: ProjectId | undefined;
    readonly sandbox: SandboxRecord;
  },
  reason: string,
): void => {
  const { generation, flavor, source } = sandbox;
  telemetry.count('SandboxStartsFailed');
  const failed = { event: 'sandbox_start_failed', workspaceId, project, generation, flavor, source, reason };
  telemetry.warn('a sandbox did not start', failed);
};
