/**
 * The check of a request's origin: sent to one of our names, and by no page of another origin.
 *
 * A page that had its own name resolve to this machine (DNS rebinding) sends that name as `Host`, and a browser
 * sends a page's origin as `Origin`. Our names are the one under which the gateway was reached, and this
 * machine's own; a program sends no `Origin`, so that none has to be configured.
 * https://modelcontextprotocol.io/specification/2026-07-28/basic/transports/streamable-http ("Security")
 */
import { localhostAllowedHostnames } from '@modelcontextprotocol/server';
import type { APIGatewayProxyEvent } from 'aws-lambda';
import { AppError } from '#shared/errors.ts';

export const refuseForeign = ({ headers, requestContext }: APIGatewayProxyEvent): void => {
  const { domainName } = requestContext;
  const own = [...localhostAllowedHostnames(), ...(domainName === undefined ? [] : [domainName])];
  const host = header(headers, 'host');
  if (host !== undefined && !own.includes(hostnameOf(`http://${host}`)))
    throw foreign('this server is not known under that name');
  const origin = header(headers, 'origin');
  if (origin !== undefined && !own.includes(hostnameOf(origin)))
    throw foreign('pages of another origin are not served');
};

const header = (headers: APIGatewayProxyEvent['headers'], wanted: string): string | undefined =>
  Object.entries(headers).find(([name]) => name.toLowerCase() === wanted)?.[1];

/** Empty for text that is no URL, as the `null` of a sandboxed page. */
const hostnameOf = (url: string): string => (URL.canParse(url) ? new URL(url).hostname : '');

const foreign = (message: string): AppError => new AppError('forbidden', message);
