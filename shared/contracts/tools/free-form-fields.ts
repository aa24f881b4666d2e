/**
 * Values of free form as the tools of `/mcp` take them. A strict schema has no object of free form, so a list of texts is
 * advertised; the object of the REST API, and its JSON text, is accepted as well.
 */
import * as z from 'zod';
import { network } from '../rest/network.ts';
import { fromJsonText } from './tool-fields.ts';

const listOfTexts = { type: 'array', items: { type: 'string' } } as const;

/** A map: `["NAME=value"]` or `{NAME: value}`. */
export const pairs = <Schema extends z.ZodType>(
  pattern: RegExp,
  { form, of }: { readonly form: string; readonly of: Schema },
) =>
  z
    .unknown()
    .meta(listOfTexts)
    .transform((given, context) => {
      if (!Array.isArray(given)) return fromJsonText(given);
      const found = given.map((entry) => (typeof entry === 'string' ? pattern.exec(entry) : null));
      if (!found.includes(null)) return Object.fromEntries(found.map((pair) => [pair?.[1], pair?.[2]]));
      context.addIssue({ code: 'custom', message: `a list of texts of the form ${form}` });
      return z.NEVER;
    })
    .pipe(of);

const none = 'none';

/** A network: hosts, `["none"]`, `none` or `{allow, inject}`. */
export const networkArgument = z
  .unknown()
  .meta(listOfTexts)
  .transform((given) =>
    Array.isArray(given) ? { allow: given.filter((name) => name !== none) } : fromJsonText(given),
  )
  .pipe(network);
