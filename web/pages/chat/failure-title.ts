/** Title of a failure: the server's sentence, with the name of the provider that it is about. Pure. */
const anyProvider = /\bthe model provider\b/i;

export const failureTitle = (message: string, provider: string | undefined): string =>
  provider === undefined
    ? message
    : message.replace(anyProvider, provider).replace('refused the key', 'rejected the API key');
