/**
 * The sandbox link: the only function in the VPC and the only way into a sandbox.
 *
 * It carries one request and streams the answer back, moves a checkpoint between a sandbox and the bucket, or
 * reads or adopts one. It refuses every target outside the address range of the sandboxes.
 */
import { randomUUID } from 'node:crypto';
import { makeSharedBucket } from '#shared/adapters/aws/shared-bucket.ts';
import { makeWorkspaceBucket, openBucketClient } from '#shared/adapters/aws/workspace-bucket.ts';
import { openLambdaRuntime, type StreamedResult } from '#shared/adapters/lambda/lambda-runtime.ts';
import { readEnvironment } from '#shared/config/environment.ts';
import { decode } from '#shared/contracts/decode.ts';
import { type LinkAnswer, type LinkCall, linkCall } from '#shared/contracts/sandbox-link.ts';
import { adopt } from './adopt.ts';
import { apply } from './apply.ts';
import { compare } from './compare.ts';
import { forwardRequest, refusal, refuseTarget } from './forward-request.ts';
import { readSaved } from './read-saved.ts';
import { openRecentManifests } from './recent-manifests.ts';
import { restore } from './restore.ts';
import { save } from './save.ts';
import { withSharedRestored } from './shared-restore.ts';
import { withSharedSaved } from './shared-save.ts';

// biome-ignore lint/style/noProcessEnv: the one read of this function's environment
const environment = readEnvironment('sandbox-link', process.env);
const runtime = openLambdaRuntime('sandbox-link', environment.DEPLOYMENT);
const { telemetry } = runtime;
const client = openBucketClient();
const bucket = makeWorkspaceBucket(client, environment.WORKSPACE_BUCKET);
const recent = openRecentManifests(Date.now);
const sharedBucket = makeSharedBucket(client, environment.WORKSPACE_BUCKET);

export const handler = runtime.streamingHandler<unknown>(async (event) => {
  const decoded = decode(linkCall, event);
  if (!decoded.ok) {
    telemetry.error('a call of the link is not understood', { problem: decoded.problem });
    return refusal('invalid_request', decoded.problem);
  }
  const { value: call } = decoded;
  if (call.correlationId !== undefined) runtime.correlation.follow(call.correlationId);
  if (call.kind === 'saved') return readSaved(call, { bucket, telemetry });
  if (call.kind === 'adopt') return report(call, adopt(asExecuted(call), { bucket, telemetry }));
  if (call.kind === 'compare') return report(call, compare(call, { bucket, telemetry }));
  const target = new URL(call.address);
  return (
    refuseTarget(target, { range: environment.SANDBOX_ADDRESS_RANGE, telemetry }) ?? answer(call, target)
  );
});

/**
 * A request whose connection broke is repeated, and may be executed beside itself. Each execution writes objects under a name of
 * its own, so that none replaces or deletes those that another has answered with.
 */
const asExecuted = <Call extends { readonly id: string }>(call: Call): Call => ({
  ...call,
  id: randomUUID(),
});

type SandboxCall = Exclude<LinkCall, { kind: 'saved' | 'adopt' | 'compare' }>;

const answer = (call: SandboxCall, target: URL): Promise<StreamedResult> => {
  const context = { target, bucket, sharedBucket, telemetry, recent };
  switch (call.kind) {
    case 'fetch':
      return forwardRequest(call, { target, telemetry });
    case 'save': {
      const executed = asExecuted(call);
      return report(
        call,
        save(executed, context).then((saved) => withSharedSaved(executed, context, saved)),
      );
    }
    case 'apply':
      return report(call, apply(call, context));
    case 'restore':
      return report(
        call,
        restore(call, context).then((restored) => withSharedRestored(call, context, restored)),
      );
  }
};

/** The log says whether the sandbox or the bucket failed; nothing was saved, and the caller may retry. */
const report = async (
  { kind, workspace }: Exclude<LinkCall, { kind: 'fetch' | 'saved' }>,
  outcome: Promise<LinkAnswer>,
): Promise<StreamedResult> => {
  try {
    const answer = await outcome;
    telemetry.info('a checkpoint was carried', {
      event: 'checkpoint_carried',
      kind,
      workspaceId: workspace,
      status: answer.status,
    });
    const body = JSON.stringify(answer);
    return { statusCode: 200, headers: { 'content-type': 'application/json' }, body };
  } catch (error) {
    telemetry.warn('a checkpoint failed', { kind, workspaceId: workspace, error });
    return refusal('sandbox_unavailable', `the ${kind} of the workspace was interrupted`);
  }
};
