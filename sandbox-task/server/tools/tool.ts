/** What every tool is: a name and a schema for the model, and one function from parsed input to a result. */
import type { CallToolResult, Tool as McpTool } from '@modelcontextprotocol/server';
import * as z from 'zod';
import type { ExecutionContext, Executor } from '../executor.ts';
import { Refusal } from '../refusal.ts';
import type { StdioCaller } from '../stdio-caller.ts';
import { userPath } from '../user-path.ts';
import type { UserSide } from '../user-side.ts';

export type ToolContext = ExecutionContext & {
  readonly userSide: UserSide;
  readonly execute: Executor;
  readonly askStdio: StdioCaller;
};

export type Tool = {
  readonly name: string;
  readonly description: string;
  readonly inputSchema: McpTool['inputSchema'];
  readonly run: (input: unknown, context: ToolContext) => Promise<CallToolResult>;
};

export type ToolDefinition<Input extends z.ZodObject> = {
  readonly name: string;
  readonly description: string;
  readonly input: Input;
  readonly run: (input: z.output<Input>, context: ToolContext) => Promise<CallToolResult>;
};

export const defineTool = <Input extends z.ZodObject>(definition: ToolDefinition<Input>): Tool => {
  const { name, description, input, run } = definition;
  const inputSchema = z.toJSONSchema(input, { io: 'input' }) as McpTool['inputSchema'];
  return {
    name,
    description,
    inputSchema,
    run: (value, context) => {
      const parsed = input.safeParse(value ?? {});
      if (!parsed.success) throw new Refusal('invalid_request', complain(name, parsed.error));
      return run(parsed.data, context);
    },
  };
};

const complain = (name: string, error: z.ZodError): string =>
  `${name}: ${error.issues.map(({ path, message }) => `${path.join('.') || 'arguments'}: ${message}`).join('; ')}`;

export const textResult = (text: string): CallToolResult => ({ content: [{ type: 'text', text }] });

export const timeoutSeconds = z
  .number()
  .min(1)
  .max(300)
  .default(30)
  .describe('Seconds until the program is killed, 1 to 300.');
export const workspacePath = userPath.describe('A path in /workspace: relative to it, or absolute under it.');
