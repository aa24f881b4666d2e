/**
 * The built-in tools as a language model is offered them: of their contracts the parameters that it needs, in words for it.
 *
 * A contract is described when a model is first called: most functions that read one only check arguments with it.
 */
import * as z from 'zod';
import type { JsonObject } from '#shared/domain/json.ts';
import type { ToolSpec } from '#shared/domain/model.ts';
import { type SandboxToolName, sandboxToolNames } from '#shared/domain/tools.ts';
import { onFirstUse } from '../on-first-use.ts';
import { agentProcessActions, agentProcessFields } from './process-tool.ts';
import { type SandboxToolContract, sandboxTools } from './sandbox-tools.ts';

/** The parameters of an object schema, with their own descriptions. */
const offeredFields = (schema: z.ZodObject): Readonly<Record<string, JsonObject>> => {
  const { properties = {} } = z.toJSONSchema(schema, { io: 'input' });
  return Object.fromEntries(
    Object.entries(properties as Readonly<Record<string, JsonObject>>).map(([name, field]) => [
      name,
      offeredParameter(field, String(field['description'] ?? '')),
    ]),
  );
};

/** A model is asked for whole numbers, and told no lengths. */
const offeredParameter = (
  { type, enum: values, minimum, maximum }: JsonObject,
  description: string,
): JsonObject => ({
  type: type === 'number' ? 'integer' : String(type),
  ...(values === undefined ? {} : { enum: values }),
  ...(minimum === undefined || maximum === undefined ? {} : { minimum, maximum }),
  ...(description === '' ? {} : { description }),
});

const specOf = (name: SandboxToolName): ToolSpec => {
  const { description, input, offered, platform = {} }: SandboxToolContract = sandboxTools[name];
  const { properties = {}, required = [] } = z.toJSONSchema(input, { io: 'input' });
  const parameters = [
    ...Object.entries(offered).map(([parameter, text = '']): [string, JsonObject] => [
      parameter,
      offeredParameter(properties[parameter] as JsonObject, text),
    ]),
    ...Object.entries(offeredFields(z.object(platform))),
  ];
  const inputSchema = {
    type: 'object',
    properties: Object.fromEntries(parameters),
    required: required.filter((parameter) => Object.hasOwn(offered, parameter)),
    additionalProperties: false,
  };
  return { name, description, inputSchema };
};

/** The tools of the sandbox. */
export const sandboxToolSpecs = onFirstUse((): readonly ToolSpec[] => sandboxToolNames.map(specOf));

/** The tool `process`, of the programs that an agent started. */
export const agentProcessTool = onFirstUse(
  (): ToolSpec => ({
    name: 'process',
    description: [
      'Manages the programs that execute_command and execute_code started in the background. `list` shows them; `output` reads what',
      'one printed, from offset on; `input` writes to its standard input, for which a person is always asked; `signal` and `kill`',
      'end it. They run until they end or their sandbox does.',
    ].join(' '),
    inputSchema: {
      type: 'object',
      properties: {
        action: { type: 'string', enum: [...agentProcessActions] },
        ...offeredFields(z.object(agentProcessFields)),
      },
      required: ['action'],
      additionalProperties: false,
    },
  }),
);
