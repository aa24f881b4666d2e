/**
 * The authorizer of `$connect`: authenticates the caller and names the session. Uncached, so that a revocation
 * holds.
 *
 * Its context comes back in `requestContext.authorizer` of every later frame, which saves a read each.
 */
import { randomUUID } from 'node:crypto';
import type { APIGatewayAuthorizerResult, APIGatewayRequestAuthorizerEvent } from 'aws-lambda';
import { openTable } from '#shared/adapters/aws/clients.ts';
import { makeConnectionStore } from '#shared/adapters/aws/dynamo/connection-store.ts';
import { makeTokenStore } from '#shared/adapters/aws/dynamo/token-store.ts';
import { openLambdaRuntime } from '#shared/adapters/lambda/lambda-runtime.ts';
import { openSignIn } from '#shared/adapters/oidc/sign-in.ts';
import { systemWorld } from '#shared/adapters/system-world.ts';
import { authenticate } from '#shared/application/access/authenticate.ts';
import { readEnvironment } from '#shared/config/environment.ts';
import { bearerToken, ticketOf, toAuthorizerContext } from '#shared/contracts/credentials.ts';
import { canonicalUuid } from '#shared/domain/ids.ts';
import { isAppError } from '#shared/errors.ts';

// biome-ignore lint/style/noProcessEnv: the one read of this function's environment
const environment = readEnvironment('authorizer', process.env);
const runtime = openLambdaRuntime('authorizer', environment.DEPLOYMENT);
const table = openTable(environment.TABLE_NAME);
const ports = {
  connections: makeConnectionStore(table),
  tokens: makeTokenStore(table),
  world: systemWorld,
  adminTokenHash: environment.ADMIN_TOKEN_SHA256,
  signIn: openSignIn(environment, runtime.telemetry),
};

export const handler = runtime.handler<APIGatewayRequestAuthorizerEvent, APIGatewayAuthorizerResult>(
  async ({ headers, queryStringParameters: query, methodArn }) => {
    try {
      const credentials = { token: bearerToken(headers), ticket: ticketOf(headers, query) };
      const principal = await authenticate(ports, credentials);
      // A socket that only receives the number of waiting calls gets no session.
      const isWithout = query?.['approvals'] === '1';
      const sessionId = canonicalUuid(query?.['sessionId'] ?? (isWithout ? '' : randomUUID()));
      return verdict('Allow', methodArn, { ...toAuthorizerContext(principal), sessionId });
    } catch (error) {
      if (isAppError(error) && error.code === 'forbidden') return verdict('Deny', methodArn, {});
      // API Gateway answers 401 to exactly this message; any other failure is a 500.
      throw isAppError(error) && error.code === 'unauthenticated'
        ? new Error('Unauthorized', { cause: error })
        : error;
    }
  },
);

const verdict = (
  Effect: 'Allow' | 'Deny',
  Resource: string,
  context: Readonly<Record<string, string>>,
): APIGatewayAuthorizerResult => ({
  principalId: context['owner'] ?? '',
  policyDocument: {
    Version: '2012-10-17',
    Statement: [{ Action: 'execute-api:Invoke', Effect, Resource }],
  },
  context: { ...context },
});
