/** A word of a command line for a POSIX shell, whatever is in it: a path of a checkout may have blanks. */
export const shellWord = (text: string): string => `'${text.replaceAll("'", `'\\''`)}'`;
