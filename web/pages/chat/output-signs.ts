/** Signs in an output that a program lacks a package, or met a host that its sandbox may not reach. Pure. */

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
