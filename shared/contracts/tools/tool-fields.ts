/** The fields that tools of `/mcp` share. A field says of a bad value what is allowed, and never repeats the value. */
import * as z from 'zod';
import { flavorNames } from '#shared/domain/flavor.ts';
import { clientIdCharactersMax, toolNamesMax } from '#shared/domain/limits.ts';
import { languages } from '#shared/domain/template.ts';
import { givenId, isPageCursor } from '../fields.ts';

export const oneOf = <const T extends string>(values: readonly T[]) =>
  z.enum(values as readonly [T, ...T[]], { error: `use one of ${values.join(', ')}` });

export const text = (charactersMax: number) => {
  const error = `a text of 1 to ${charactersMax} characters`;
  return z.string({ error }).min(1, { error }).max(charactersMax, { error });
};

/**
 * A value that a client may send as JSON text, which is how it is advertised: a strict schema has no free-form objects. Text
 * that is no JSON stays text.
 */
export const orJsonText = <Schema extends z.ZodType>(schema: Schema) =>
  z.unknown().meta({ type: 'string' }).transform(fromJsonText).pipe(schema);

export const fromJsonText = (value: unknown): unknown => {
  if (typeof value !== 'string') return value;
  try {
    return JSON.parse(value);
  } catch {
    return value;
  }
};

export const flag = z.boolean({ error: 'true or false' });
export const wholeFrom = (min: number, max: number) => {
  const expected = { error: `a whole number from ${min} to ${max}` };
  return z.int(expected).min(min, expected).max(max, expected);
};

export const noNul = { error: 'a text without NUL characters' };

/** Lower-cased before it is compared, so that `SMALL` is `small`. */
export const flavor = z.preprocess(
  (value) => (typeof value === 'string' ? value.toLowerCase() : value),
  oneOf(flavorNames),
);
export const template = oneOf(languages);
/** Which names there are, only the settings know. */
export const templateName = text(32);
/** The id of one of the platform's resources. */
export const id = givenId(text(clientIdCharactersMax));
export const sessionId = id.describe('Id of an execution session.');
export const projectId = id.describe('Id of a project.');
export const workspaceId = id.describe('Id of a workspace.');
export const toolNames = z
  .array(text(clientIdCharactersMax), { error: 'a list of names of tools' })
  .max(toolNamesMax, { error: `a list of at most ${toolNamesMax} names` });

export const moment = z.string().describe('Time in ISO 8601, UTC.');
export const after = (charactersMax: number) =>
  text(charactersMax)
    .refine(isPageCursor, { error: 'the next of the previous page' })
    .optional()
    .describe('Cursor: next of the previous page.');
export const next = z
  .string()
  .optional()
  .describe('Cursor of the next page, to pass as after; absent: this is the last page.');

export const deletedResult = z.object({
  id: z.string().describe('Id of the deleted resource.'),
  message: z.string().describe('Summary for a person.'),
});

const unknownNamedMax = 5;

/** An object schema that refuses unknown fields by name, and lists the known ones. */
export const closed = <Shape extends z.core.$ZodLooseShape>(shape: Shape) =>
  z.strictObject(shape, {
    error: (issue) => {
      if (issue.code !== 'unrecognized_keys') return 'an object';
      const unknown = issue.keys
        .slice(0, unknownNamedMax)
        .map((key) => JSON.stringify(key.slice(0, clientIdCharactersMax)));
      return `unknown argument ${unknown.join(', ')}; allowed: ${Object.keys(shape).join(', ')}`;
    },
  });
