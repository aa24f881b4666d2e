/**
 * The synthetic check: uses the platform as a client does, with the client that others use, and measures how long it took.
 *
 * It does nothing where `SYNTHETIC_CHECK` does not say so. A check that fails is counted and fails its invocation, which
 * is not retried: the next one is due soon.
 */
import { ApiClient } from '#sdk/api-client.ts';
import { openTable } from '#shared/adapters/aws/clients.ts';
import { makeProjectStore } from '#shared/adapters/aws/dynamo/project-store.ts';
import { makeTokenStore } from '#shared/adapters/aws/dynamo/token-store.ts';
import { openLambdaRuntime } from '#shared/adapters/lambda/lambda-runtime.ts';
import { systemWorld } from '#shared/adapters/system-world.ts';
import { readEnvironment } from '#shared/config/environment.ts';
import { decode } from '#shared/contracts/decode.ts';
import { cgroupsIn, kinds, runCheck, syntheticTask } from './check.ts';
import { withOwnToken } from './own-token.ts';

// biome-ignore lint/style/noProcessEnv: the one read of this function's environment
const environment = readEnvironment('synthetic', process.env);
const requestMsMax = 15_000;
const runtime = openLambdaRuntime('synthetic', environment.DEPLOYMENT);
const table = openTable(environment.TABLE_NAME);
const ports = { projects: makeProjectStore(table), tokens: makeTokenStore(table), world: systemWorld };

/** A refusal is a result of the check: nothing is repeated. */
const clientOf = (url: string, token: string) =>
  new ApiClient({ url, token, timeoutMs: requestMsMax, triesMax: 1 });

export const handler = runtime.handler<unknown, object>(async (event, { awsRequestId }) => {
  const decoded = decode(syntheticTask, event);
  if (!decoded.ok) throw new Error(`not a synthetic check: ${decoded.problem}`);
  const { check, url } = decoded.value;
  runtime.correlation.follow(awsRequestId);
  if (!environment.SYNTHETIC_CHECK) return { check, isOff: true };
  try {
    const { durationMs, text } = await withOwnToken(ports, (token) =>
      runCheck({ client: clientOf(url, token), world: systemWorld }, kinds[check]),
    );
    runtime.telemetry.duration(kinds[check].metric, durationMs);
    return { check, durationMs, ...(check === 'sandbox' && { cgroups: cgroupsIn(text) }) };
  } catch (error) {
    runtime.telemetry.count('SyntheticChecksFailed');
    runtime.telemetry.error('a synthetic check failed', { event: 'synthetic_check_failed', check, error });
    throw error;
  }
});
