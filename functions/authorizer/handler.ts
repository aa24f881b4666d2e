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
import { openIssuer } from '#shared/adapters/oidc/open-issuer.ts';
import { systemWorld } from '#shared/adapters/system-world.ts';
import { authenticate, type Credentials } from '#shared/application/access/authenticate.ts';
import { personOfCookie } from '#shared/application/access/browser-sign-in.ts';
import { recordRefusal } from '#shared/application/access/record-refusal.ts';
import { readEnvironment } from '#shared/config/environment.ts';
import { cookieNamed, isFromOwnPage, signInCookie } from '#shared/contracts/browser-request.ts';
import { bearerToken, ticketOf, toAuthorizerContext } from '#shared/contracts/credentials.ts';
import { givenQuery, queryFlag } from '#shared/contracts/fields.ts';
import { canonicalUuid } from '#shared/domain/ids.ts';
import type { Principal } from '#shared/domain/principal.ts';
import { AppError, isAppError } from '#shared/errors.ts';

// biome-ignore lint/style/noProcessEnv: the one read of this function's environment
const environment = readEnvironment('authorizer', process.env);
const runtime = openLambdaRuntime('authorizer', environment.DEPLOYMENT);
const table = openTable(environment.TABLE_NAME);
const ports = {
  connections: makeConnectionStore(table),
  tokens: makeTokenStore(table),
  world: systemWorld,
  adminTokenHash: environment.ADMIN_TOKEN_SHA256,
  signIn: openIssuer(environment, runtime.telemetry),
};

export const handler = runtime.handler<APIGatewayRequestAuthorizerEvent, APIGatewayAuthorizerResult>(
  async ({ headers, queryStringParameters: query, methodArn }) => {
    try {
      const credentials = { token: bearerToken(headers), ticket: ticketOf(headers, query) };
      const principal = (await personOf(headers, credentials)) ?? (await authenticate(ports, credentials));
      // A socket that only receives the number of waiting calls gets no session.
      const given = givenQuery(query);
      const isWithout = queryFlag.safeParse(given['approvals']).data === true;
      const sessionId = canonicalUuid(given['sessionId'] ?? (isWithout ? '' : randomUUID()));
      return verdict('Allow', methodArn, { ...toAuthorizerContext(principal), sessionId });
    } catch (error) {
      recordRefusal(runtime.telemetry, error, { resource: '$connect' });
      if (isAppError(error) && error.code === 'forbidden') return verdict('Deny', methodArn, {});
      // API Gateway answers 401 to exactly this message; any other failure is a 500.
      throw isAppError(error) && error.code === 'unauthenticated'
        ? new Error('Unauthorized', { cause: error })
        : error;
    }
  },
);

/** A browser sends its cookie with the handshake of any page: only one of our origin may use it. */
const personOf = async (
  headers: APIGatewayRequestAuthorizerEvent['headers'],
  { token, ticket }: Credentials,
): Promise<Principal | undefined> => {
  const secret = cookieNamed(headers, signInCookie);
  if (secret === undefined || token !== undefined || ticket !== undefined) return undefined;
  if (!isFromOwnPage(headers, { kind: 'upgrade', publicUrl: environment.PUBLIC_URL }))
    throw new AppError('forbidden', 'a sign-in works only for pages of this origin');
  return personOfCookie(ports, secret);
};

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
