/**
 * The metadata of `/mcp` as a protected resource (RFC 9728), by which a client finds the server that issues its tokens, and the
 * challenge of a 401 that names this metadata. Also the metadata of the platform's own authorization server (RFC 8414), if the
 * platform is that server.
 *
 * Public, and the same for everyone: it has the endpoint's address as the client sees it, and the OIDC issuer if there is one.
 * Refuses every other path below `/.well-known`.
 */
import type { APIGatewayProxyEvent } from 'aws-lambda';
import type { StreamedResult } from '#shared/adapters/lambda/lambda-runtime.ts';
import { publicOriginOf } from '#shared/contracts/browser-request.ts';
import { bearerToken } from '#shared/contracts/credentials.ts';
import { authorizationServer, authorizationServerPath } from '#shared/contracts/oauth.ts';
import { scopesSupported } from '#shared/domain/oauth/client-scope.ts';
import { AppError } from '#shared/errors.ts';

export type ResourceSettings = {
  /** The address of the deployment for people; absent: the one under which it was reached. */
  readonly publicUrl: string | undefined;
  /** The OIDC issuer that gives tokens for `/mcp`; absent: the platform's own server gives tokens. */
  readonly issuer: string | undefined;
};

const wellKnown = '/.well-known/';
const metadataPath = `${wellKnown}oauth-protected-resource`;
/** That of the endpoint's own path, and the one that clients ask for without it (RFC 9728, 3.1). */
const metadataPaths: readonly string[] = [`${metadataPath}/mcp`, metadataPath];

type Asked = Pick<APIGatewayProxyEvent, 'headers' | 'httpMethod' | 'path'>;

export const isWellKnown = ({ path = '' }: Pick<Asked, 'path'>): boolean => path.startsWith(wellKnown);

export const answerWellKnown = (event: Asked, settings: ResourceSettings): StreamedResult => {
  const origin = publicOriginOf(event, settings.publicUrl);
  const isRead = event.httpMethod === 'GET' || event.httpMethod === 'HEAD';
  const document = origin === undefined || !isRead ? undefined : documentOf(event.path, origin, settings);
  if (document === undefined)
    throw new AppError('not_found', 'there is nothing at this path', {
      suggestions: [`GET ${metadataPath}/mcp describes the MCP endpoint.`],
    });
  const body = JSON.stringify(document);
  return {
    statusCode: 200,
    headers: {
      'content-type': 'application/json',
      'cache-control': 'no-store',
      // Clients in a page of any origin may read it: it is the same for everyone.
      'access-control-allow-origin': '*',
    },
    body: event.httpMethod === 'HEAD' ? '' : body,
  };
};

const documentOf = (path: string, origin: string, { issuer }: ResourceSettings): object | undefined => {
  if (path === authorizationServerPath) return issuer === undefined ? authorizationServer(origin) : undefined;
  if (!metadataPaths.includes(path)) return undefined;
  return {
    resource: `${origin}/mcp`,
    resource_name: 'Sallyport',
    authorization_servers: [issuer ?? origin],
    ...(issuer === undefined ? { scopes_supported: scopesSupported } : {}),
    bearer_methods_supported: ['header'],
  };
};

/**
 * `WWW-Authenticate` of a 401 (RFC 9728, 5.1). A request with a token learns that the token is why, one without gets no error
 * code (RFC 6750, 3.1).
 */
export const challengeOf = (event: Asked, settings: ResourceSettings): string => {
  const origin = publicOriginOf(event, settings.publicUrl);
  const parameters = [
    ...(bearerToken(event.headers) === undefined ? [] : ['error="invalid_token"']),
    ...(origin === undefined ? [] : [`resource_metadata="${origin}${metadataPath}/mcp"`]),
  ];
  return ['Bearer', parameters.join(', ')].join(' ').trimEnd();
};
