/**
 * The variables by which programs find the proxy of the sandbox, if its session has a network: both spellings for those that follow
 * the convention, and the own settings of pip, npm, git and Node. Programs of the sandbox reach each other directly. Where the
 * platform answers for a host, the usual variables name the file with its authority; a session may set these differently.
 */
import { join } from 'node:path';
import type { PlatformVariable } from '#shared/domain/session-environment.ts';
import { authoritiesFile, relayFolder } from '../wire/messages.ts';

type NetworkVariables = Partial<Record<PlatformVariable, string>>;

const direct = 'localhost,127.0.0.1,::1';

export const networkVariables = (proxyPort: number): NetworkVariables => {
  const proxy = `http://127.0.0.1:${proxyPort}`;
  return {
    http_proxy: proxy,
    https_proxy: proxy,
    HTTP_PROXY: proxy,
    HTTPS_PROXY: proxy,
    no_proxy: direct,
    NO_PROXY: direct,
    PIP_PROXY: proxy,
    npm_config_proxy: proxy,
    npm_config_https_proxy: proxy,
    npm_config_noproxy: direct,
    NODE_USE_ENV_PROXY: '1',
    GIT_CONFIG_COUNT: '2',
    GIT_CONFIG_KEY_1: 'http.proxy',
    GIT_CONFIG_VALUE_1: proxy,
  };
};

const trustNames = [
  ...['SSL_CERT_FILE', 'CURL_CA_BUNDLE', 'REQUESTS_CA_BUNDLE', 'NODE_EXTRA_CA_CERTS'],
  ...['GIT_SSL_CAINFO', 'PIP_CERT', 'npm_config_cafile'],
];

export const trustVariables = (): Readonly<Record<string, string>> => {
  const file = join(relayFolder, authoritiesFile);
  return Object.fromEntries(trustNames.map((name) => [name, file]));
};
