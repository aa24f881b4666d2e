/**
 * The target of a registered MCP server, on the network or as a program, with the project's secrets filled in:
 * never stored, never logged.
 */
import type { JsonObject } from '../../domain/json.ts';
import { namesOfSecrets, resolveTexts, type Texts } from '../../domain/mcp/secrets.ts';
import type { RemoteConfig, StdioConfig } from '../../domain/mcp/server.ts';
import { AppError } from '../../errors.ts';
import type { RemoteTarget } from '../../ports/mcp-servers.ts';

/** Throws `invalid_request` for a secret that does not exist or does not fit a header, by its name. */
export const targetOf = (
  { name, config }: { readonly name: string; readonly config: RemoteConfig },
  { secrets, timeoutMs }: { readonly secrets: Texts; readonly timeoutMs: number },
): RemoteTarget => ({
  name,
  transport: config.transport,
  url: config.url,
  headers: filledHeaders(config.headers ?? {}, secrets),
  timeoutMs,
});

/** The program that the sandbox starts. Throws `invalid_request` for a secret that does not exist. */
export const programOf = (
  { name, config }: { readonly name: string; readonly config: StdioConfig },
  secrets: Texts,
): JsonObject => {
  const { command, args = [], env = {}, cwd } = config;
  const resolved = resolveTexts(env, secrets);
  if (!resolved.ok) throw missingSecrets(resolved.missing);
  return { name, command, args: [...args], env: resolved.texts, ...(cwd === undefined ? {} : { cwd }) };
};

const filledHeaders = (headers: Texts, secrets: Texts): Texts => {
  const resolved = resolveTexts(headers, secrets);
  if (!resolved.ok) throw missingSecrets(resolved.missing);
  const unfit = Object.entries(resolved.texts).find(([, value]) => !/^[\t\x20-\x7e\x80-\xff]*$/.test(value));
  if (unfit === undefined) return resolved.texts;
  const names = namesOfSecrets(headers[unfit[0]] ?? '');
  throw new AppError(
    'invalid_request',
    `the secret ${names.join(' or ')} has characters that a header cannot contain`,
  );
};

export const missingSecrets = (names: readonly string[]): AppError =>
  new AppError('invalid_request', `the project has no secret named ${names.join(', ')}`, {
    suggestions: ['Set the secret, or remove its name from the server.'],
  });
