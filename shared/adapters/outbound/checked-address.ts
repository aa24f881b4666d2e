/**
 * A host that a user named, checked: the addresses a connection may go to, and no others.
 *
 * All addresses of a name are checked, and a single private one refuses the name: the resolver decides which of
 * them a connection would take. Hosts the operator has named may be anywhere.
 */
import type { LookupAddress } from 'node:dns';
import { lookup } from 'node:dns/promises';
import { isLocalName, isNamed, isPublicAddress } from '#shared/domain/ip-address.ts';
import { AppError } from '#shared/errors.ts';
import { unreachable } from './unreachable.ts';

export type Resolve = (host: string) => Promise<readonly LookupAddress[]>;

export type EgressSettings = {
  /** `host` or `host:port` each, which may be private. */
  readonly allowedPrivateHosts: readonly string[];
  /** The variable that names them, for the text of a refusal; absent: the one of MCP servers. */
  readonly setting?: string;
  /** The machine's own resolver when absent. */
  readonly resolve?: Resolve;
};

const schemeMessage = 'URL must start with http:// or https://';
const hostCharactersShown = 100;
const defaultPorts: Readonly<Record<string, number>> = { 'http:': 80, 'https:': 443 };

export const parseUrl = (text: string): URL => {
  const url = URL.parse(text);
  if (url === null) throw refused(schemeMessage);
  return url;
};

/** Throws `invalid_request` where no connection may go, `mcp_server_unavailable` where the name has no address. */
export const checkAddress = async (url: URL, settings: EgressSettings): Promise<readonly LookupAddress[]> => {
  const defaultPort = defaultPorts[url.protocol];
  if (defaultPort === undefined) throw refused(schemeMessage);
  if (url.username !== '' || url.password !== '')
    throw refused('a URL with a user name or a password is refused: send a header instead');
  const port = url.port === '' ? defaultPort : Number(url.port);
  const isAllowed = isNamed(settings.allowedPrivateHosts, { host: url.hostname, port });
  if (!isAllowed && isLocalName(url.hostname)) throw privateHost(url, settings);
  const addresses = await resolveHost(bareHost(url), settings.resolve ?? ownResolver);
  if (!isAllowed && !addresses.every(({ address }) => isPublicAddress(address)))
    throw privateHost(url, settings);
  return addresses;
};

/** Without the brackets of IPv6. */
export const bareHost = ({ hostname }: URL): string => hostname.replace(/^\[|\]$/g, '');

const ownResolver: Resolve = (host) => lookup(host, { all: true, verbatim: true });

const resolveHost = async (host: string, resolve: Resolve): Promise<readonly LookupAddress[]> => {
  const addresses = await resolve(host).catch((cause: unknown) => {
    throw unreachable('its name cannot be resolved', { cause });
  });
  if (addresses.length === 0) throw unreachable('its name cannot be resolved');
  return addresses;
};

const privateHost = (
  { hostname }: URL,
  { setting = 'MCP_ALLOWED_PRIVATE_HOSTS' }: EgressSettings,
): AppError =>
  refused(`the address of ${hostname.slice(0, hostCharactersShown)} is private, loopback or link-local`, [
    `An operator can allow a private host with ${setting}.`,
  ]);

const refused = (message: string, suggestions: readonly string[] = []): AppError =>
  new AppError('invalid_request', message, {
    suggestions: ['Use a public http:// or https:// address.', ...suggestions],
    recoveryActions: ['correct_arguments'],
  });
