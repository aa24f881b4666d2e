/**
 * What every tool is: a name and schemas for the client, and one function from parsed arguments to a result.
 *
 * Arguments are parsed here and not by the SDK, so that a bad one is refused in the words of our error
 * table. A field that is null counts as absent: clients that fill in every field send it.
 */
import type { Tool as McpTool, ToolAnnotations } from '@modelcontextprotocol/server';
import * as z from 'zod';
import type { SessionDefaults } from '#shared/application/create-session.ts';
import type { ExecutePorts } from '#shared/application/execute.ts';
import type { TokenPorts } from '#shared/application/manage-tokens.ts';
import { decode } from '#shared/contracts/decode.ts';
import type { Principal } from '#shared/domain/principal.ts';
import { AppError, type ErrorCode } from '#shared/errors.ts';
import type { ToolProgress } from '#shared/ports/sandbox-tools.ts';
import type { DisplayedContent } from './displayed-content.ts';

export type McpPorts = ExecutePorts & TokenPorts;

export type McpSettings = {
  readonly defaults: SessionDefaults;
  readonly volume: { readonly guestPath: string; readonly isAvailable: boolean };
};

export type ToolContext = {
  readonly ports: McpPorts;
  readonly settings: McpSettings;
  readonly principal: Principal;
  readonly correlationId: string;
  /** Aborted when nobody waits for the result any more. */
  readonly signal: AbortSignal;
  readonly onProgress: (progress: ToolProgress) => void;
  /** Adds a block to the content of the result, after the text of its fields. */
  readonly show: (content: DisplayedContent) => void;
};

/** Becomes `structuredContent` and its JSON text. */
export type ToolResult = Readonly<Record<string, unknown>>;

type ObjectSchema = McpTool['inputSchema'];

export type Tool = {
  readonly name: string;
  readonly description: string;
  readonly inputSchema: ObjectSchema;
  readonly outputSchema: ObjectSchema;
  readonly annotations?: ToolAnnotations;
  readonly run: (input: unknown, context: ToolContext) => Promise<ToolResult>;
};

type ToolDefinition<Input extends z.ZodObject, Output extends z.ZodObject> = {
  readonly name: string;
  readonly description: string;
  readonly input: Input;
  readonly output: Output;
  readonly annotations?: ToolAnnotations;
  readonly run: (input: z.output<Input>, context: ToolContext) => Promise<z.output<Output>>;
};

export const defineTool = <Input extends z.ZodObject, Output extends z.ZodObject>(
  definition: ToolDefinition<Input, Output>,
): Tool => {
  const { input, output, run, ...rest } = definition;
  return {
    ...rest,
    inputSchema: objectSchema(input),
    outputSchema: objectSchema(output),
    run: async (value, context) => run(parseArguments(input, value), context),
  };
};

/**
 * Without `$schema`, and in words that drafts 7 and 2020-12 share: older clients compile with draft 7 and
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
