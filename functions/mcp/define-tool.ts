/**
 * The definition of a tool: a name and schemas for the client, a permission, and one function from parsed
 * arguments to a result.
 *
 * The permission is stated once: it is checked before anything is parsed or looked up, and its reading or writing
 * is checked again on the session or project that the tool then finds.
 *
 * Arguments are described to the client as plain JSON schema, and parsed here rather than by the SDK, so that a bad one is
 * refused with a message of our error table.
 */

import type { ContentBlock, Tool as McpTool, ToolAnnotations } from '@modelcontextprotocol/server';
import * as z from 'zod';
import { requirePermission } from '#shared/application/access/require-permission.ts';
import type { Deps, ExecutionDeps, FileDeps, ProjectDeps, ScheduleDeps } from '#shared/application/deps.ts';
import type { ConfigLimits } from '#shared/application/project/config-limits.ts';
import type { SessionDefaults } from '#shared/application/session/create-session.ts';
import { withoutAbsent } from '#shared/contracts/absent-arguments.ts';
import { decode, halfOfCharacter, unknownFields } from '#shared/contracts/decode.ts';
import { type Intent, intentOf, type Permission } from '#shared/domain/access.ts';
import type { SessionId } from '#shared/domain/ids.ts';
import { isWellFormed, type JsonObject } from '#shared/domain/json.ts';
import type { Principal } from '#shared/domain/principal.ts';
import { AppError, type ErrorCode } from '#shared/errors.ts';
import type { ToolProgress } from '#shared/ports/sandbox.ts';

export type McpPorts = ExecutionDeps &
  FileDeps &
  ProjectDeps &
  ScheduleDeps &
  Deps<'callers' | 'tokens' | 'grants' | 'runningCalls' | 'trees' | 'secretNames' | 'modelPrices'>;

export type McpSettings = {
  readonly defaults: SessionDefaults;
  readonly limits: ConfigLimits;
  /** The longest run of one tool, in seconds. */
  readonly toolSecondsMax: number;
  readonly volume: { readonly guestPath: string; readonly isAvailable: boolean };
};

/** The context of a call of any tool. */
export type CallContext = {
  readonly ports: McpPorts;
  readonly settings: McpSettings;
  readonly principal: Principal;
  /** Aborted when no client waits for the result. */
  readonly signal: AbortSignal;
  /** Aborted when the connection is lost, which ends no call of an older client. */
  readonly gone: AbortSignal;
  /** Sends a client that asked for a session's events one of them, as `notifications/message`. */
  readonly tell: (level: 'info' | 'error', data: JsonObject) => void;
  readonly onProgress: (progress: ToolProgress) => void;
  /** When the function that answers ends, epoch milliseconds. */
  readonly deadlineAt: number;
  /** Reports the session of the call, before anything runs in it. */
  readonly onSession: (id: SessionId) => void;
  /** Reports the phase of a slow call to a client that asked for progress. */
  readonly onPhase: (phase: string) => void;
  /** Adds a block to the content of the result, after the text of its fields. */
  readonly show: (content: ContentBlock) => void;
};

export type ToolContext = CallContext & {
  /** The meaning of the tool's permission for a resource it finds. */
  readonly intent: Intent;
};

/** Becomes `structuredContent` and its JSON text. */
export type ToolResult = Readonly<Record<string, unknown>>;

/** A tool as clients see it. */
export type ShownTool = {
  readonly name: string;
  readonly description: string;
  readonly inputSchema: ObjectSchema;
  readonly outputSchema: ObjectSchema;
  readonly annotations: Annotations;
};

export type Permits = (permission: Permission) => boolean;

export type Tool = ShownTool & {
  /** The permission of the tool, or of each of its actions. */
  readonly needs: Permission | Readonly<Record<string, Permission>>;
  /** The tool with the actions that a client may use, or those of a list; undefined when it may use none. */
  readonly shownTo: (permits: Permits, among?: readonly string[]) => ShownTool | undefined;
  readonly run: (input: unknown, context: CallContext) => Promise<ToolResult>;
};

/** A client decides by them what it asks a person about. */
export type Annotations = ToolAnnotations & {
  readonly title: string;
  readonly readOnlyHint: boolean;
  readonly openWorldHint: boolean;
};

type ToolDefinition<Input extends z.ZodObject, Output extends z.ZodObject> = {
  readonly name: string;
  readonly description: string;
  readonly needs: Permission;
  readonly input: Input;
  readonly output: Output;
  readonly annotations: Annotations;
  readonly run: (input: z.output<Input>, context: ToolContext) => Promise<z.output<Output>>;
};

export const defineTool = <Input extends z.ZodObject, Output extends z.ZodObject>(
  definition: ToolDefinition<Input, Output>,
): Tool => {
  const { input, output, run, needs, ...rest } = definition;
  const shown = { ...rest, inputSchema: argumentsSchema(input), outputSchema: objectSchema(output) };
  return {
    ...shown,
    needs,
    shownTo: (permits) => (permits(needs) ? shown : undefined),
    run: async (value, context) => {
      const allowed = admit(context, needs);
      return run(parseArguments(input, value), allowed);
    },
  };
};

/** The context of a caller whose token may use the tool at all; `forbidden` for another. */
export const admit = (context: CallContext, permission: Permission): ToolContext => {
  requirePermission(context.principal, permission);
  return { ...context, intent: intentOf(permission) };
};

export type ObjectSchema = McpTool['inputSchema'];

/**
 * Without `$schema`, and in keywords that drafts 7 and 2020-12 share: older clients compile with draft 7 and
 * refuse to load a schema that names another. Results are described as open, so that a field can be added.
 */
export const objectSchema = (schema: z.ZodType): ObjectSchema => {
  const { $schema: _, ...described } = z.toJSONSchema(schema, { io: 'input' });
  return { ...(described as ObjectSchema), type: 'object' };
};

/** Without the lengths of texts: each costs every model tokens, and a text that is too long is refused with the bound. */
export const argumentsSchema = (schema: z.ZodType): ObjectSchema => {
  const { $schema: _, ...described } = z.toJSONSchema(schema, {
    io: 'input',
    override: ({ jsonSchema }) => {
      delete jsonSchema.minLength;
      delete jsonSchema.maxLength;
      if (jsonSchema.maximum === Number.MAX_SAFE_INTEGER) delete jsonSchema.maximum;
    },
  });
  return { ...(described as ObjectSchema), type: 'object' };
};

export const parseArguments = <Input extends z.ZodType>(schema: Input, value: unknown): z.output<Input> => {
  const given = withoutAbsent(schema, value ?? {});
  const dropped = unknownFields(schema, given).find((path) => path.endsWith('__proto__'));
  if (dropped !== undefined)
    throw new AppError('invalid_request', `${dropped}: there is no such field`, refusals.other);
  // The SDK parsed the JSON: no store and no file takes such a text as it is.
  if (!isWellFormed(given))
    throw new AppError('invalid_request', `the arguments have ${halfOfCharacter}`, refusals.other);
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
  suggestions: ['Leave out the flavor to use the default.'],
  recoveryActions: ['use_small_flavor'],
};

const refusals: Readonly<Record<string, ArgumentRefusal>> & { readonly other: ArgumentRefusal } = {
  flavor: invalidFlavor,
  flavors_allowed: invalidFlavor,
  template: {
    code: 'unsupported_language',
    suggestions: ['Leave out the template to use the default.'],
    recoveryActions: ['use_python_template', 'use_node_template'],
  },
  other: {
    code: 'invalid_request',
    suggestions: ['Correct the arguments as the message says.'],
    recoveryActions: ['correct_arguments'],
  },
};
