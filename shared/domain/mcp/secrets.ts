/**
 * Secrets in the configuration of an MCP server: `${NAME}` in a header or a variable stands for one of the project. The
 * form is checked when a server is registered, and the secret is filled in where the server is reached. A name without a
 * secret is an error that names it.
 *
 * Masks: a header, a variable or a part of the query whose name says that it is a secret shows none, unless it only
 * names one of the project's (R6). Arguments are shown as they are. A secret that enters a sandbox is warned of by its name (R7).
 */
import type { McpServerConfig } from './server.ts';

export type Texts = Readonly<Record<string, string>>;

const template = /\$\{([A-Za-z_][A-Za-z0-9_]{0,127})\}/g;

/** True when every `${` begins the name of a secret and ends with `}`. */
export const isWellFormed = (text: string): boolean => !text.replace(template, '').includes('${');

export const namesOfSecrets = (text: string): readonly string[] =>
  [...text.matchAll(template)].map(([, name]) => String(name));

type Resolved =
  | { readonly ok: true; readonly texts: Texts }
  /** The names that no secret has, in order. */
  | { readonly ok: false; readonly missing: readonly string[] };

export const resolveTexts = (texts: Texts, secrets: Texts): Resolved => {
  const wanted = Object.values(texts).flatMap(namesOfSecrets);
  const missing = [...new Set(wanted.filter((name) => !Object.hasOwn(secrets, name)))].sort();
  if (missing.length > 0) return { ok: false, missing };
  const filled = Object.entries(texts).map(([key, text]) => [
    key,
    text.replace(template, (_, name: string) => secrets[name] ?? ''),
  ]);
  return { ok: true, texts: Object.fromEntries(filled) };
};

/** The secrets that code in a sandbox can read: those in the variables of a server that runs there. */
export const secretsInSandbox = (config: McpServerConfig): readonly string[] => {
  if (config.transport !== 'stdio') return [];
  return [...new Set(Object.values(config.env ?? {}).flatMap(namesOfSecrets))].sort();
};

/** Warning for people who set or see such a server; undefined where there is nothing to say. */
export const sandboxSecretsWarning = (config: McpServerConfig): string | undefined => {
  const names = secretsInSandbox(config);
  if (names.length === 0) return undefined;
  return `All code in the sandbox, including the agent's, can read ${names.join(', ')}, because the server runs there.`;
};

/** The text shown for a masked value: sent back, it would overwrite the value with its own mask. */
export const mask = '***';

const secretName = /auth|cookie|token|key|secret|passw|credential|session|signature/i;
/** A scheme of authentication holds no secret. */
const onlyNames = /^(?:(?:Bearer|Basic|Token|ApiKey) )?\$\{[A-Za-z_][A-Za-z0-9_]*\}$/i;

export const maskedConfig = (config: McpServerConfig): McpServerConfig => {
  if (config.transport === 'stdio')
    return { ...config, ...(config.env === undefined ? {} : { env: maskedTexts(config.env) }) };
  const { url, headers } = config;
  return {
    ...config,
    url: maskedUrl(url),
    ...(headers === undefined ? {} : { headers: maskedTexts(headers) }),
  };
};

const maskedTexts = (texts: Texts): Texts =>
  Object.fromEntries(
    Object.entries(texts).map(([name, value]) => [
      name,
      secretName.test(name) && !onlyNames.test(value) ? mask : value,
    ]),
  );

const maskedUrl = (url: string): string =>
  url.replace(/([?&])([^=&#]*)=([^&#]*)/g, (whole, mark: string, name: string) =>
    secretName.test(name) ? `${mark}${name}=${mask}` : whole,
  );

/** A shorter value is no secret, and would take ordinary words out of a text. */
const hiddenCharactersMin = 4;

/** A result is data: a short value would take ordinary words out of it. */
const hiddenInResultsMin = 8;

/** A text of a result without the secrets of the project that its server was sent. */
export const withoutProjectSecrets = (text: string, config: McpServerConfig, secrets: Texts): string =>
  Object.values((config.transport === 'stdio' ? config.env : config.headers) ?? {})
    .flatMap(namesOfSecrets)
    .map((name) => (Object.hasOwn(secrets, name) ? (secrets[name] ?? '') : ''))
    .filter((value) => value.length >= hiddenInResultsMin)
    .sort((one, other) => other.length - one.length)
    .reduce((hidden, value) => hidden.replaceAll(value, mask), text);

/** A server's text without the secrets it was sent: an error message may repeat them. */
export const withoutSecrets = (text: string, config: McpServerConfig, secrets: Texts): string => {
  const sent = Object.entries((config.transport === 'stdio' ? config.env : config.headers) ?? {});
  const values = sent.flatMap(([name, value]) => [
    ...namesOfSecrets(value).map((secret) => (Object.hasOwn(secrets, secret) ? (secrets[secret] ?? '') : '')),
    ...(secretName.test(name) ? literals(value) : []),
  ]);
  return values
    .filter((value) => value.length >= hiddenCharactersMin)
    .sort((one, other) => other.length - one.length)
    .reduce((hidden, value) => hidden.replaceAll(value, mask), text);
};

/** The value whole, and without its scheme. */
const literals = (value: string): readonly string[] =>
  namesOfSecrets(value).length > 0 ? [] : [value, value.slice(value.indexOf(' ') + 1)];
