/**
 * The last line of what a program's call gave back, when the program failed. Models read it, and so do those who show a
 * call to people. Pure; a program whose own last words are the same is believed.
 */
export const exitLine = (code: number): string => `Exit code: ${code}`;

const lastLine = /(?:^|\n)Exit code: (\d+)\s*$/;

/** Undefined for a program that succeeded, or of whose end nothing is said. */
export const exitCodeIn = (text: string): number | undefined => {
  const [, code] = lastLine.exec(text) ?? [];
  return code === undefined ? undefined : Number(code);
};
