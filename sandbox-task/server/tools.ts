/**
 * The tools of the sandbox: the contract of each, and one function from parsed input to a result.
 *
 * `read_file`, `write_file` and `list_files` end with their request. `execute_command` and `execute_code` run programs in
 * /workspace, with an empty stdin and the first and last 256 KB of each stream; a cancel, the timeout or a limit kills
 * all processes of the call, and otherwise its background processes live on. Definitions of code last until the next
 * call of their context (docs/spec/sandbox.md, W12). `mcp_list` and `mcp_call` are for the platform alone: a model is offered the MCP
 * server's own tools.
 */
import type { CallToolResult, Tool as McpTool } from '@modelcontextprotocol/server';
import * as z from 'zod';
import { withoutAbsent } from '#shared/contracts/absent-arguments.ts';
import { describeIssues, inPlainWords } from '#shared/contracts/issue-text.ts';
import { onFirstUse } from '#shared/contracts/on-first-use.ts';
import {
  argumentsBytesMax,
  hasNoNul,
  noNul,
  programArgument,
  variableName,
  workingFolder,
} from '#shared/contracts/program-fields.ts';
import { readFileBytesMax, sandboxTools, timeoutSeconds } from '#shared/contracts/tools/sandbox-tools.ts';
import { type ImageType, imageTypeOfBytes } from '#shared/domain/image-type.ts';
import type { JsonObject } from '#shared/domain/json.ts';
import { serverNameCharactersMax, toolNameCharactersMax } from '../wire/program-messages.ts';
import type { ExecutionContext, Executor } from './executor.ts';
import { listFolder, readChunk, writeFile } from './files.ts';
import { Refusal } from './refusal.ts';
import type { StdioCaller } from './stdio-caller.ts';
import type { UserSide } from './user-side.ts';

type ToolContext = ExecutionContext & {
  readonly userSide: UserSide;
  readonly execute: Executor;
  readonly askStdio: StdioCaller;
};

type Tool = {
  readonly name: string;
  readonly description: string;
  /** Written when a client lists the tools: the platform never does, and it takes a fifth of a start. */
  readonly inputSchema: () => McpTool['inputSchema'];
  readonly run: (input: unknown, context: ToolContext) => Promise<CallToolResult>;
};

type ToolDefinition<Input extends z.ZodObject> = {
  readonly name: string;
  /** Its schema is made when it is first read. */
  readonly contract: { readonly description: string; readonly input: Input };
  readonly run: (input: z.output<Input>, context: ToolContext) => Promise<CallToolResult>;
};

const defineTool = <Input extends z.ZodObject>(definition: ToolDefinition<Input>): Tool => {
  const { name, contract, run } = definition;
  return {
    name,
    description: contract.description,
    inputSchema: () => z.toJSONSchema(contract.input, { io: 'input' }) as McpTool['inputSchema'],
    run: (value, context) => {
      const { input } = contract;
      const parsed = input.safeParse(withoutAbsent(input, value ?? {}), inPlainWords);
      if (!parsed.success) throw new Refusal('invalid_request', describeProblems(name, parsed.error.issues));
      return run(parsed.data, context);
    },
  };
};

const describeProblems = (name: string, issues: z.ZodError['issues']): string =>
  `${name}: ${describeIssues(issues, 'the call')}`;

const textResult = (text: string): CallToolResult => ({ content: [{ type: 'text', text }] });

const imageResult = (bytes: Buffer, mimeType: ImageType): CallToolResult => ({
  content: [{ type: 'image', data: bytes.toString('base64'), mimeType }],
});

const writtenBytesMax = 4 * 1_048_576;

const readFileTool = defineTool({
  name: 'read_file',
  contract: sandboxTools.read_file,
  run: async ({ path }, { userSide }) => {
    const { bytes, size } = await readChunk(userSide, path, { offset: 0, bytesMax: readFileBytesMax });
    if (size > readFileBytesMax) {
      throw new Refusal(
        'payload_too_large',
        `${path} has ${size} bytes; at most ${readFileBytesMax} can be read at once`,
      );
    }
    const mimeType = imageTypeOfBytes(bytes);
    return mimeType === undefined ? textResult(bytes.toString()) : imageResult(bytes, mimeType);
  },
});

const writeFileTool = defineTool({
  name: 'write_file',
  contract: sandboxTools.write_file,
  run: async ({ path, content }, { userSide }) => {
    const bytes = Buffer.from(content);
    if (bytes.length > writtenBytesMax) {
      throw new Refusal(
        'payload_too_large',
        `the content has ${bytes.length} bytes; at most ${writtenBytesMax}`,
      );
    }
    await writeFile(userSide, path, bytes);
    return textResult(`Successfully wrote to ${path}`);
  },
});

/** At most 10,000 names; a second block says that there are more. */
const listFilesTool = defineTool({
  name: 'list_files',
  contract: sandboxTools.list_files,
  run: async ({ path }, { userSide }) => {
    const { entries, isCut } = await listFolder(userSide, path);
    const { content, ...result } = textResult(
      JSON.stringify(entries.map(({ name, type }) => ({ name, type }))),
    );
    const note = `[The folder has more than these ${entries.length} entries.]`;
    return { ...result, content: isCut ? [...content, { type: 'text', text: note }] : content };
  },
});

const executeCommandTool = defineTool({
  name: 'execute_command',
  contract: sandboxTools.execute_command,
  run: ({ command, args, ...more }, context) => {
    // Without these two options bash reads ~/.bashrc when its stdin looks like a network connection (bash(1), INVOCATION).
    const argv = args ? [command, ...args] : ['bash', '--norc', '--noprofile', '-c', command];
    return context.execute({ work: { argv }, ...programOptions(more) }, context);
  },
});

const executeCodeTool = defineTool({
  name: 'execute_code',
  contract: sandboxTools.execute_code,
  run: ({ code, language, context: name, results, ...more }, context) => {
    const work = { code, language, context: name, hasBundles: results };
    return context.execute({ work, ...programOptions(more) }, context);
  },
});

type ProgramArguments = Pick<
  z.output<typeof sandboxTools.execute_command.input>,
  'timeout' | 'cwd' | 'env' | 'output_limit'
>;

const programOptions = ({ timeout, cwd, env, output_limit: outputLimit }: ProgramArguments) => ({
  timeoutSeconds: timeout,
  ...{ cwd, env, outputLimit },
});

const processArgumentsMax = 100;
const variablesMax = 100;
const variableCharactersMax = 32 * 1024;
const configCharactersMax = 256 * 1024;

/** The configuration of a registered MCP server, with its secrets. */
const server = onFirstUse(() =>
  z
    .strictObject({
      name: z
        .string()
        .regex(/^[\w-]+$/, 'has letters, digits, hyphens and underscores')
        .max(serverNameCharactersMax),
      command: programArgument.min(1),
      args: z.array(programArgument).max(processArgumentsMax).default([]),
      env: z
        .record(variableName, z.string().max(variableCharactersMax).refine(hasNoNul, noNul))
        .refine((env) => Object.keys(env).length <= variablesMax, `has at most ${variablesMax} variables`)
        .default({}),
      cwd: workingFolder.optional(),
    })
    .refine(
      (config) => JSON.stringify(config).length <= configCharactersMax,
      `has at most ${configCharactersMax} characters`,
    ),
);

const mcpListInput = onFirstUse(() => z.strictObject({ server: server(), timeout: timeoutSeconds }));

const mcpListTool = defineTool({
  name: 'mcp_list',
  contract: {
    description: 'Lists the tools of an MCP server that is started in the sandbox and spoken to over stdio.',
    get input() {
      return mcpListInput();
    },
  },
  run: (input, context) =>
    context.askStdio(
      { work: { server: input.server, ask: { type: 'list' } }, timeoutSeconds: input.timeout },
      context,
    ),
});

const mcpCallInput = onFirstUse(() =>
  z.strictObject({
    server: server(),
    tool: z.string().min(1).max(toolNameCharactersMax),
    arguments: z
      .record(z.string(), z.json())
      .refine(
        (input) => Buffer.byteLength(JSON.stringify(input)) <= argumentsBytesMax,
        `have at most ${argumentsBytesMax} bytes`,
      )
      .default({}),
    timeout: timeoutSeconds,
  }),
);

const mcpCallTool = defineTool({
  name: 'mcp_call',
  contract: {
    description: 'Calls a tool of an MCP server that is started in the sandbox and spoken to over stdio.',
    get input() {
      return mcpCallInput();
    },
  },
  run: ({ tool, arguments: input, timeout, ...given }, context) =>
    context.askStdio(
      {
        work: { server: given.server, ask: { type: 'call', tool, arguments: input as JsonObject } },
        timeoutSeconds: timeout,
      },
      context,
    ),
});

export const tools: readonly Tool[] = [
  ...[readFileTool, writeFileTool, listFilesTool, executeCommandTool, executeCodeTool],
  ...[mcpListTool, mcpCallTool],
];
