/**
 * A tool with several actions: each has its own arguments and result, and `action` names one of them.
 *
 * The client sees all fields at once, since many clients read nothing but plain properties; the description says
 * which belong to which action, and the action's own schema checks it.
 */
import * as z from 'zod';
import type { Permission } from '#shared/domain/access.ts';
import { AppError } from '#shared/errors.ts';
import {
  admit,
  objectSchema,
  parseArguments,
  type Tool,
  type ToolContext,
  type ToolResult,
} from './define-tool.ts';

type Action = {
  readonly needs: Permission;
  readonly input: z.ZodObject;
  readonly output: z.ZodObject;
  readonly run: (input: unknown, context: ToolContext) => Promise<ToolResult>;
};

export const defineAction = <Input extends z.ZodObject, Output extends z.ZodObject>(definition: {
  readonly needs: Permission;
  readonly input: Input;
  readonly output: Output;
  readonly run: (input: z.output<Input>, context: ToolContext) => Promise<z.output<Output>>;
}): Action => ({
  ...definition,
  run: async (value, context) => definition.run(parseArguments(definition.input, value), context),
});

export const defineActionTool = (definition: {
  readonly name: string;
  readonly description: string;
  readonly actions: Readonly<Record<string, Action>>;
}): Tool => {
  const { name, description, actions } = definition;
  return {
    name,
    description: `${description} ${describeActions(actions)}`,
    needs: Object.fromEntries(Object.entries(actions).map(([action, { needs }]) => [action, needs])),
    inputSchema: inputSchemaOf(actions),
    outputSchema: objectSchema(z.union(Object.values(actions).map(({ output }) => output))),
    run: async (value, context) => {
      const { action: asked, ...input } = (value ?? {}) as Record<string, unknown>;
      const action = actionNamed(definition, asked);
      return action.run(input, admit(context, action.needs));
    },
  };
};

type Actions = Readonly<Record<string, Action>>;

const actionNamed = (
  { name, actions }: { readonly name: string; readonly actions: Actions },
  asked: unknown,
): Action => {
  const valid = `valid actions: ${Object.keys(actions).join(', ')}`;
  if (typeof asked !== 'string' || asked === '')
    throw refused(`action parameter is required for ${name} tool; ${valid}`);
  const action = Object.hasOwn(actions, asked) ? actions[asked] : undefined;
  if (action === undefined)
    throw refused(`unknown action '${asked.slice(0, actionCharactersMax)}' for ${name} tool; ${valid}`);
  return action;
};

const actionCharactersMax = 100;

const refused = (message: string): AppError =>
  new AppError('invalid_request', message, {
    suggestions: ['Use one of the valid actions.'],
    recoveryActions: ['correct_arguments'],
  });

/** `create (name*, description), list (after)` */
const describeActions = (actions: Actions): string => {
  const described = Object.entries(actions).map(([action, { input }]) => {
    const required = objectSchema(input).required ?? [];
    const fields = Object.keys(input.shape).map((field) => (required.includes(field) ? `${field}*` : field));
    return `${action} (${fields.join(', ')})`;
  });
  return `Actions and their fields, * required: ${described.join('; ')}.`;
};

const inputSchemaOf = (actions: Actions): Tool['inputSchema'] => {
  const fields = Object.values(actions).map(({ input }) => objectSchema(input)['properties'] as object);
  return {
    type: 'object',
    properties: {
      action: { type: 'string', enum: Object.keys(actions), description: 'Action to perform.' },
      ...Object.assign({}, ...fields),
    },
    required: ['action'],
    additionalProperties: false,
  };
};
