/** The tool as the server runs it: its contract, and one function from parsed input to a result. */
import type { CallToolResult, Tool as McpTool } from '@modelcontextprotocol/server';
import * as z from 'zod';
import type { ExecutionContext, Executor } from '../executor.ts';
import { Refusal } from '../refusal.ts';
import type { StdioCaller } from '../stdio-caller.ts';
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

type ToolDefinition<Input extends z.ZodObject> = {
  readonly name: string;
  readonly contract: { readonly description: string; readonly input: Input };
  readonly run: (input: z.output<Input>, context: ToolContext) => Promise<CallToolResult>;
};

export const defineTool = <Input extends z.ZodObject>(definition: ToolDefinition<Input>): Tool => {
  const { name, contract, run } = definition;
  const { description, input } = contract;
  const inputSchema = z.toJSONSchema(input, { io: 'input' }) as McpTool['inputSchema'];
  return {
    name,
    description,
    inputSchema,
    run: (value, context) => {
      const parsed = input.safeParse(value ?? {});
      if (!parsed.success) throw new Refusal('invalid_request', describeProblems(name, parsed.error));
      return run(parsed.data, context);
    },
  };
};

const describeProblems = (name: string, error: z.ZodError): string =>
  `${name}: ${error.issues.map(({ path, message }) => `${path.join('.') || 'arguments'}: ${message}`).join('; ')}`;

export const textResult = (text: string): CallToolResult => ({ content: [{ type: 'text', text }] });
