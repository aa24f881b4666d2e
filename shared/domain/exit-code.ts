/**
 * The exit code in the last line of a failed program's result. Models read that line, and so do clients that show
 * a call to people. Pure; a program that prints the same line itself is believed.
 */
export const exitLine = (code: number): string => `Exit code: ${code}`;

const lastLine = /(?:^|\n)Exit code: (\d+)\s*$/;

/** Undefined for a program that succeeded, or whose end is not stated. */
export const exitCodeIn = (text: string): number | undefined => {
  const [, code] = lastLine.exec(text) ?? [];
  return code === undefined ? undefined : Number(code);
};
