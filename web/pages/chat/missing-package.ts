/** Reads from an output that a package is missing, which a person can add and the program cannot say how. Pure. */
const signs: readonly RegExp[] = [
  /^ModuleNotFoundError: No module named /m,
  // A file of the program's own is no package.
  /\bCannot find (?:module|package) '[^./]/,
  /\bNo matching distribution found for /,
  /\bnpm (?:ERR!|error) code (?:ENOTFOUND|EAI_AGAIN)\b/,
];

export const lacksPackage = (output: string): boolean => signs.some((sign) => sign.test(output));
