/** The title of a failure, in words for a person. Pure. */

const anyProvider = /\bthe model provider\b/i;

const ofDeployment: ReadonlySet<string> = new Set(['provider_auth_failed', 'provider_not_configured']);

/** The provider is not set up: the page of the providers tells more. */
export const needsProvider = (code: string): boolean => ofDeployment.has(code);

/** The server's sentence, with the name of the provider that it is about. */
export const failureTitle = (message: string, provider: string | undefined): string =>
  provider === undefined
    ? message
    : message.replace(anyProvider, provider).replace('refused the key', 'rejected the API key');
