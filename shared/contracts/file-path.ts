/**
 * The path of a file as a client gives it, checked as far as its text allows.
 *
 * The same for every tool and route, and inside the sandbox once more: whole characters without NUL, in steps and
 * in a length that the kernel takes (NAME_MAX; PATH_MAX without its NUL). Only the sandbox can resolve it.
 */
export const pathBytesMax = 4095;
const stepBytesMax = 255;

const bytesOf = (text: string): number => new TextEncoder().encode(text).length;

/** The rule that a path breaks, as text; undefined for a valid path. */
export const filePathProblem = (path: string): string | undefined => {
  if (path === '') return 'a path of at least one character';
  if (path.includes('\0')) return 'a path without NUL characters';
  if (!path.isWellFormed()) return 'a path without halves of characters';
  if (bytesOf(path) > pathBytesMax) return `a path of at most ${pathBytesMax} bytes`;
  return path.split('/').some((step) => bytesOf(step) > stepBytesMax)
    ? `a path with at most ${stepBytesMax} bytes between two slashes`
    : undefined;
};
