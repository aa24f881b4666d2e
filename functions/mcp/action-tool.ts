/**
 * A tool with several actions: each has its own arguments and result, and `action` names one of them.
 *
 * A client sees the actions that its token allows, and all of their fields at once, since many clients read nothing but plain
 * properties. The description says which belong to which action, and the action's own schema checks it. A field that two
 * actions describe differently has one description for both.
 */
import type * as z from 'zod';
import { saysNothing } from '#shared/contracts/absent-arguments.ts';
import type { Permission } from '#shared/domain/access.ts';
import { invariant } from '#shared/domain/assert.ts';
import { AppError } from '#shared/errors.ts';
import {
  type Annotations,
  admit,
  argumentsSchema,
  type ObjectSchema,
  objectSchema,
  parseArguments,
  type ShownTool,
  type Tool,
  type ToolContext,
  type ToolResult,
} from './define-tool.ts';

type Action = {
  readonly needs: Permission;
  readonly inputSchema: ObjectSchema;
  readonly outputSchema: ObjectSchema;
  readonly run: (input: unknown, context: ToolContext) => Promise<ToolResult>;
};

export const defineAction = <Input extends z.ZodObject, Output extends z.ZodObject>(definition: {
  readonly needs: Permission;
  readonly input: Input;
  readonly output: Output;
  readonly run: (input: z.output<Input>, context: ToolContext) => Promise<z.output<Output>>;
}): Action => ({
  needs: definition.needs,
  inputSchema: argumentsSchema(definition.input),
  outputSchema: objectSchema(definition.output),
  run: async (value, context) => definition.run(parseArguments(definition.input, value), context),
});

type Actions = Readonly<Record<string, Action>>;

type ActionToolDefinition = {
  readonly name: string;
  readonly description: string;
  readonly actions: Actions;
  /** The descriptions of fields that mean something else in another action. */
  readonly fields?: Readonly<Record<string, string>>;
  /** `readOnlyHint` follows from the permissions. */
  readonly annotations: Omit<Annotations, 'readOnlyHint'>;
};

export const defineActionTool = (definition: ActionToolDefinition): Tool => {
  const { name, actions, fields = {} } = definition;
  const unclear = ambiguousFields(actions).filter((field) => !Object.hasOwn(fields, field));
  invariant(unclear.length === 0, `${name}: actions describe ${unclear.join(', ')} differently`);
  const known = new Set(Object.values(actions).flatMap((action) => Object.keys(propertiesOf(action))));
  return {
    ...shownWith(definition, actions),
    needs: Object.fromEntries(Object.entries(actions).map(([action, { needs }]) => [action, needs])),
    shownTo: (permits, among = Object.keys(actions)) => {
      const allowed = Object.entries(actions).filter(
        ([action, { needs }]) => among.includes(action) && permits(needs),
      );
      return allowed.length === 0 ? undefined : shownWith(definition, Object.fromEntries(allowed));
    },
    run: async (value, context) => {
      const { action: asked, ...input } = (value ?? {}) as Record<string, unknown>;
      const action = actionNamed(name, actions, asked);
      return action.run(withoutOthers(input, action, known), admit(context, action.needs));
    },
  };
};

/** Without the empty fields of other actions: a client that fills every optional field sends them too. */
const withoutOthers = (
  input: Readonly<Record<string, unknown>>,
  action: Action,
  known: ReadonlySet<string>,
): Readonly<Record<string, unknown>> => {
  const own = propertiesOf(action);
  return Object.fromEntries(
    Object.entries(input).filter(([key, value]) => key in own || !known.has(key) || !saysNothing(value)),
  );
};

const actionNamed = (name: string, actions: Actions, asked: unknown): Action => {
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

const shownWith = (
  { name, description, fields, annotations }: ActionToolDefinition,
  actions: Actions,
): ShownTool => {
  const isReadOnly = Object.values(actions).every(({ needs }) => needs.endsWith(':read'));
  return {
    name,
    description: `${description} ${describeActions(actions)}`,
    inputSchema: inputSchemaOf(actions, fields ?? {}),
    outputSchema: { type: 'object', anyOf: Object.values(actions).map(({ outputSchema }) => outputSchema) },
    annotations: isReadOnly
      ? { title: annotations.title, readOnlyHint: true, openWorldHint: false }
      : { ...annotations, readOnlyHint: false },
  };
};

/** `create (name*, description), list (after)`. Many fields of an earlier action are not repeated: they cost each client tokens. */
const describeActions = (actions: Actions): string => {
  const all = Object.entries(actions);
  const described = all.map(([name, action], index) => {
    const earlier = all.slice(0, index).find(([, other]) => repeats(action, other));
    return `${name} (${earlier === undefined ? starred(action).join(', ') : beside(action, earlier)})`;
  });
  return `Actions and their fields, * required: ${described.join('; ')}.`;
};

const isRequired = ({ inputSchema }: Action, field: string): boolean =>
  (inputSchema.required ?? []).includes(field);

const starred = (action: Action): readonly string[] =>
  Object.keys(propertiesOf(action)).map((field) => (isRequired(action, field) ? `${field}*` : field));

const repeatedMin = 6;

/** True if it has nearly all fields of the other, none of which it requires. */
const repeats = (action: Action, other: Action): boolean => {
  const fields = Object.keys(propertiesOf(other));
  const shared = fields.filter((field) => field in propertiesOf(action));
  return (
    shared.length >= repeatedMin &&
    shared.length >= fields.length - 1 &&
    !shared.some((field) => isRequired(action, field))
  );
};

/** `project_id*, clear, and those of create, as optional` */
const beside = (action: Action, [name, other]: readonly [string, Action]): string => {
  const known = propertiesOf(other);
  const own = starred(action).filter((field) => !(field.replace('*', '') in known));
  const missing = Object.keys(known).filter((field) => !(field in propertiesOf(action)));
  const but = missing.length === 0 ? '' : ` but ${missing.join(', ')}`;
  return [...own, `and those of ${name}${but}, as optional`].join(', ');
};

const propertiesOf = ({ inputSchema }: Action): Readonly<Record<string, object>> =>
  (inputSchema.properties ?? {}) as Readonly<Record<string, object>>;

const inputSchemaOf = (actions: Actions, descriptions: Readonly<Record<string, string>>): ObjectSchema => {
  const properties: Record<string, object> = Object.assign({}, ...Object.values(actions).map(propertiesOf));
  const described = Object.entries(properties).map(([field, schema]) => {
    const description = descriptions[field];
    return [field, description === undefined ? schema : { ...schema, description }];
  });
  return {
    type: 'object',
    properties: {
      action: { type: 'string', enum: Object.keys(actions), description: 'Action to perform.' },
      ...Object.fromEntries(described),
    },
    required: ['action'],
    additionalProperties: false,
  };
};

/** The fields that actions describe differently: a client sees one description. */
const ambiguousFields = (actions: Actions): readonly string[] => {
  const all = Object.values(actions).flatMap((action) => Object.entries(propertiesOf(action)));
  const names = [...new Set(all.map(([field]) => field))];
  return names.filter((name) => {
    const said = all.flatMap(([field, schema]) => (field === name ? [JSON.stringify(schema)] : []));
    return new Set(said).size > 1;
  });
};
