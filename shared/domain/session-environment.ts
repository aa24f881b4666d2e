/**
 * The environment variables that a client gives the sandbox of its session. Their values are sealed and shown to no one;
 * a sandbox is recognized as having the same ones by a fingerprint.
 */

import type { SessionId } from './ids.ts';

export type Variables = Readonly<Record<string, string>>;

/** The environment as a session and its sandbox know it: without values. */
export type EnvironmentRef = {
  /** The session whose sealed values these are: a child has those of its parent. */
  readonly of: SessionId;
  readonly names: readonly string[];
  /** Equal for equal variables; of no use without the deployment's secret. */
  readonly fingerprint: string;
};

/** Without what is sealed beside it. */
export const environmentRefOf = ({ of, names, fingerprint }: EnvironmentRef): EnvironmentRef => ({
  of,
  names,
  fingerprint,
});

/** The variables that the platform itself sets for every program in a sandbox. */
export const platformVariables = [
  ...(['PATH', 'HOME', 'LANG', 'TMPDIR', 'USER', 'SHELL', 'SHARED_VOLUME_PATH'] as const),
  ...(['GIT_CONFIG_COUNT', 'GIT_CONFIG_KEY_0', 'GIT_CONFIG_VALUE_0'] as const),
  ...(['GIT_CONFIG_KEY_1', 'GIT_CONFIG_VALUE_1', 'PIP_PROXY', 'NODE_USE_ENV_PROXY'] as const),
  ...(['npm_config_proxy', 'npm_config_https_proxy', 'npm_config_noproxy'] as const),
  ...(['http_proxy', 'https_proxy', 'no_proxy', 'HTTP_PROXY', 'HTTPS_PROXY', 'NO_PROXY'] as const),
] as const;
export type PlatformVariable = (typeof platformVariables)[number];

const proxies = ['HTTP_PROXY', 'HTTPS_PROXY', 'ALL_PROXY', 'NO_PROXY'];
const ownPrefix = 'SALLYPORT_';
const variableName = /^[A-Za-z_][A-Za-z0-9_]{0,127}$/;

export const isVariableName = (name: string): boolean => variableName.test(name);

export const isPlatformVariable = (name: string): boolean =>
  (platformVariables as readonly string[]).includes(name) ||
  proxies.includes(name.toUpperCase()) ||
  name.startsWith(ownPrefix);
