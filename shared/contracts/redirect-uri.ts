/**
 * Addresses to which an authorization may lead a browser: those that a client registered, and no other.
 *
 * Refuses every scheme but https and, on this machine, http (RFC 8252, 7.3): a scheme of an app belongs to any program that claims it
 * last. Refuses user names, passwords and fragments (RFC 6749, 3.1.2).
 */
const charactersMax = 512;
const loopbackHosts = ['127.0.0.1', '[::1]', 'localhost'];

export const redirectUriRule =
  'must be an https address, or an http one of this machine, without a user name and a fragment';

const isLoopback = ({ protocol, hostname }: URL): boolean =>
  protocol === 'http:' && loopbackHosts.includes(hostname);

/** The parts of an address that a client may register; undefined for any other. */
const parse = (text: string): URL | undefined => {
  // Printable alone: a parser would drop a line break without a word.
  if (text.length > charactersMax || !/^[\x21-\x7e]+$/.test(text) || !URL.canParse(text)) return undefined;
  const url = new URL(text);
  if (text.includes('#') || text.includes('\\') || url.username !== '' || url.password !== '')
    return undefined;
  return url.protocol === 'https:' || isLoopback(url) ? url : undefined;
};

export const mayBeRegistered = (text: string): boolean => parse(text) !== undefined;

/**
 * True for an address as it was registered. A program on a person's machine takes whatever port is free, so that of a loopback
 * address may be another (RFC 8252, 7.3); nothing else of it may.
 */
export const isRegistered = (text: string, registered: readonly string[]): boolean =>
  registered.includes(text) || registered.some((known) => isSameButPort(text, known));

const isSameButPort = (text: string, known: string): boolean => {
  const given = withoutPort(text);
  return given !== undefined && given === withoutPort(known);
};

/** An address of this machine as it was written, since a parser takes `127.1` and `/x/../back` for others. */
const withoutPort = (text: string): string | undefined => {
  const [, host, rest] =
    /^(http:\/\/(?:127\.0\.0\.1|\[::1\]|localhost))(?::\d+)?((?:[/?].*)?)$/.exec(text) ?? [];
  return host === undefined || parse(text) === undefined ? undefined : `${host}${rest}`;
};

/** The host to which the browser goes: a person can judge it, and `this machine` says that no other reads the code. */
export const redirectHost = (text: string): string => {
  const url = parse(text);
  if (url === undefined) return '';
  return isLoopback(url) ? 'this machine' : url.host;
};
