/**
 * A call as a person changes it before approving it: the text of it that is edited, and what the edited text means.
 * Pure; the server checks the arguments as it does the model's.
 */
import type { Json, JsonObject } from '#shared/domain/json.ts';
import type { CallForm } from './call-summary.ts';

/** The text that is edited: the one that matters, else all arguments as JSON. */
export type EditableText = { readonly field?: string; readonly text: string; readonly label: string };

/** A text field of the browser is no editor for more. */
export const editedCharactersMax = 100_000;

export const editableText = (form: CallForm, args: JsonObject): EditableText => {
  if (form.kind !== 'none' && form.field !== undefined) {
    const { field } = form;
    // A text field makes one kind of line break of all: what has others is edited as JSON.
    const text = args[field];
    if (typeof text === 'string' && !text.includes('\r')) return { field, text, label: `The ${field}` };
  }
  return { text: JSON.stringify(args, null, 2), label: 'The arguments, as JSON' };
};

export type Edited =
  | { readonly args: JsonObject; readonly problem?: undefined }
  | { readonly problem: string; readonly args?: undefined };

export const editedArgs = (args: JsonObject, { field, text: before }: EditableText, text: string): Edited => {
  if (text === before) return { problem: 'Nothing is changed yet.' };
  if (field !== undefined)
    return text.trim() === '' ? { problem: `The ${field} is empty.` } : { args: { ...args, [field]: text } };
  try {
    const value = JSON.parse(text) as Json;
    return isObject(value) ? { args: value } : { problem: 'The arguments must be a JSON object.' };
  } catch (error) {
    return { problem: `This is not JSON: ${error instanceof Error ? error.message : String(error)}` };
  }
};

const isObject = (value: Json): value is JsonObject =>
  typeof value === 'object' && value !== null && !Array.isArray(value);
