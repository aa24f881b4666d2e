/**
 * The arguments of a tool: described to the client as plain JSON schema, parsed here.
 *
 * The SDK does not parse them, so that a bad argument is refused with a message of our error table. A field that
 * is null counts as absent: clients that fill in every field send it.
 */
import type { Tool as McpTool } from '@modelcontextprotocol/server';
import * as z from 'zod';
import { decode } from '#shared/contracts/decode.ts';
import { AppError, type ErrorCode } from '#shared/errors.ts';

export type ObjectSchema = McpTool['inputSchema'];

/**
 * Without `$schema`, and in keywords that drafts 7 and 2020-12 share: older clients compile with draft 7 and
 * refuse to load a schema that names another. Results are described as open, so that a field can be added.
 */
export const objectSchema = (schema: z.ZodType): ObjectSchema => {
  const { $schema: _, ...described } = z.toJSONSchema(schema, { io: 'input' });
  return { ...(described as ObjectSchema), type: 'object' };
};

export const parseArguments = <Input extends z.ZodType>(schema: Input, value: unknown): z.output<Input> => {
  const given = withoutNulls(value);
  const decoded = decode(schema, given);
  if (decoded.ok) return decoded.value;
  const field = schema.safeParse(given).error?.issues[0]?.path[0];
  const { code, ...advice } = refusals[String(field)] ?? refusals['other'];
  throw new AppError(code, decoded.problem, advice);
};

type ArgumentRefusal = {
  readonly code: ErrorCode;
  readonly suggestions: readonly string[];
  readonly recoveryActions: readonly string[];
};

const invalidFlavor: ArgumentRefusal = {
  code: 'invalid_flavor',
  suggestions: ['Leave the flavor out for the default.'],
  recoveryActions: ['use_small_flavor'],
};

const refusals: Readonly<Record<string, ArgumentRefusal>> & { readonly other: ArgumentRefusal } = {
  flavor: invalidFlavor,
  flavors_allowed: invalidFlavor,
  template: {
    code: 'unsupported_language',
    suggestions: ['Leave the template out for the default.'],
    recoveryActions: ['use_python_template', 'use_node_template'],
  },
  other: {
    code: 'invalid_request',
    suggestions: ['Correct the arguments as the message says.'],
    recoveryActions: ['correct_arguments'],
  },
};

const withoutNulls = (value: unknown): unknown => {
  if (value === undefined || value === null) return {};
  if (typeof value !== 'object' || Array.isArray(value)) return value;
  return Object.fromEntries(Object.entries(value).filter(([, field]) => field !== null));
};
