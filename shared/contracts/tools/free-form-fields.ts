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
const noneWithHosts =
  'none and hosts exclude each other: use ["none"] for no network, or list only the hosts';

/** A network: hosts, `["none"]`, `none` or `{allow, inject}`. A list that names hosts and `none` says two things. */
export const networkArgument = z
  .unknown()
  .meta(listOfTexts)
  .transform((given, context) => {
    if (!Array.isArray(given)) return fromJsonText(given);
    if (!given.includes(none)) return { allow: given };
    if (given.every((name) => name === none)) return { allow: [] };
    context.addIssue({ code: 'custom', message: noneWithHosts });
    return z.NEVER;
  })
  .pipe(network);
