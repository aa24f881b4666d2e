/** The path that a tool or a route is given, refused where no file can have it. The runner decides where it leads. */
import * as z from 'zod';
import { filePathProblem } from '#shared/contracts/file-path.ts';
import { Refusal } from './refusal.ts';

const charactersMax = 4096;

export const userPath = z
  .string()
  .min(1)
  .max(charactersMax)
  .refine((path) => filePathProblem(path) === undefined, {
    error: ({ input }) => `must be ${filePathProblem(String(input))}`,
  });

export const parseUserPath = (path: string): string => {
  const problem = filePathProblem(path);
  if (problem !== undefined) throw new Refusal('invalid_request', `it must be ${problem}`);
  return path;
};
