/**
 * Fields that start a program of a sandbox, in every contract that starts one: its command, arguments, working folder and variables.
 *
 * The bounds are those of the kernel. The sandbox decides whether a folder is there.
 */
import * as z from 'zod';
import { processVariablesBytesMax, processVariablesMax } from '#shared/domain/limits.ts';
import { utf8Bytes } from '#shared/domain/text.ts';
import { filePath } from './fields.ts';

/** One argument of a program has at most 128 KiB with its NUL (execve(2), MAX_ARG_STRLEN). */
const argumentBytesMax = 131_071;
/** All of them and the environment have a quarter of the stack, 2 MiB (execve(2), ARG_MAX). */
export const argumentsBytesMax = 1_048_576;
export const argumentsMax = 1000;

export const hasNoNul = (value: string): boolean => !value.includes('\0');
export const noNul = 'has no NUL character';

/** In bytes; each argument ends with a NUL. */
export const argumentsBytes = (texts: readonly string[]): number =>
  texts.reduce((bytes, text) => bytes + utf8Bytes(text) + 1, 0);

export const programArgument = z
  .string()
  .refine(
    (text) => utf8Bytes(text) <= argumentBytesMax,
    `has at most ${argumentBytesMax} bytes, as one argument of a program (MAX_ARG_STRLEN); longer text goes into a file`,
  )
  .refine(hasNoNul, noNul);

export const programCommand = programArgument
  .min(1)
  .describe('Bash line, or the name of a program when args are given.');

export const programArguments = z
  .array(programArgument)
  .max(argumentsMax)
  .refine(
    (texts) => argumentsBytes(texts) <= argumentsBytesMax,
    `have at most ${argumentsBytesMax} bytes in all`,
  )
  .describe('Arguments of the program, which then runs without a shell.');

export const workingFolder = filePath.describe('Working folder, relative to /workspace or absolute.');

export const variableName = z.string().regex(/^[A-Za-z_]\w*$/, 'is the name of a variable');
/** Names that the platform itself sets: a program finds its parts by them. */
const ownName = /^SALLYPORT_|^GIT_CONFIG_(?:COUNT|KEY_0|VALUE_0)$/;

/** In bytes of names and values. */
export const variablesBytes = (env: Readonly<Record<string, string>>): number =>
  utf8Bytes(Object.entries(env).flat().join(''));

/** The variables of a program, `{NAME: value}`. */
export const programVariables = z
  .record(
    variableName.refine((name) => !ownName.test(name), 'is a variable of the platform'),
    z.string().refine(hasNoNul, noNul),
  )
  .refine(
    (env) => Object.keys(env).length <= processVariablesMax,
    `has at most ${processVariablesMax} variables`,
  )
  .refine(
    (env) => variablesBytes(env) <= processVariablesBytesMax,
    `has at most ${processVariablesBytesMax} bytes`,
  );
