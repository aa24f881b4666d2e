/** Failures in words for a person: the title of one, and the signs that a program lacks a package or met a refused host. Pure. */

const anyProvider = /\bthe model provider\b/i;

const ofDeployment: ReadonlySet<string> = new Set(['provider_auth_failed', 'provider_not_configured']);

/** The provider is not set up: the page of the providers tells more. */
export const needsProvider = (code: string): boolean => ofDeployment.has(code);

/** The server's sentence, with the name of the provider that it is about. */
export const failureTitle = (message: string, provider: string | undefined): string =>
  provider === undefined
    ? message
    : message.replace(anyProvider, provider).replace('refused the key', 'rejected the API key');

const signs: readonly RegExp[] = [
  /^ModuleNotFoundError: No module named /m,
  // A file of the program's own is no package.
  /\bCannot find (?:module|package) '[^./]/,
  /\bNo matching distribution found for /,
  /\bnpm (?:ERR!|error) code (?:ENOTFOUND|EAI_AGAIN)\b/,
];

/** A person can add it, and the program cannot say how. */
export const lacksPackage = (output: string): boolean => signs.some((sign) => sign.test(output));

/** As curl and git say it, which leave out the reason, and in the words of the proxy. */
export const metRefusedHost = (output: string): boolean =>
  /\bCONNECT tunnel failed, response 403|\bis not among the hosts that this sandbox may reach/.test(output);
