/** The fields that contracts share: ids and names as clients give them, hashes, points in time, pages, paths of files. */
import * as z from 'zod';
import { canonicalUuid } from '#shared/domain/ids.ts';
import { isPlainName, plainNameRule } from '#shared/domain/visible-text.ts';

/**
 * By form alone, as `isUuid`, whatever the version: a client may choose the id of a workspace, and one that is refused somewhere on
 * its way is made and never saved. `z.uuid()` refuses ids of no version of RFC 9562.
 */
export const anyUuid = z.guid();

/** Ids as clients give them: in any case, and lower-cased before anything is compared with them (AC6). */
export const givenUuid = anyUuid.overwrite(canonicalUuid);

/** For an id whose lookup validates its form, with an error of its own. */
export const givenId = (text: z.ZodString): z.ZodString => text.overwrite(canonicalUuid);

/** Names that people and programs give things, without characters that a terminal obeys instead of showing. */
export const plainName = (text: z.ZodString): z.ZodString => text.refine(isPlainName, plainNameRule);

/** In hexadecimal. */
export const sha256 = z.string().regex(/^[0-9a-f]{64}$/);

/** A point in time as every wire carries it: ISO 8601, UTC. */
export const iso = (epochMs: number): string => new Date(epochMs).toISOString();

/** The origin of a line of a sandbox's log. */
export const logStream = z.enum(['stderr', 'lifecycle']);

/**
 * Levels of a tool's schema. DynamoDB takes 32 in an item, of which the record around it needs some.
 * https://docs.aws.amazon.com/amazondynamodb/latest/developerguide/Constraints.html
 */
export const schemaDepthMax = 24;
export const toolDescriptionCharactersMax = 4000;

/** The `next` of every page names a moment and a resource. It is opaque to clients, so no schema advertises its form. */
export const isPageCursor = (text: string): boolean =>
  /^(?:\d{13}|\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z)#/.test(text);

export const afterPage = z
  .string()
  .max(256)
  .refine(isPageCursor, 'must be the next of the previous page')
  .optional()
  .describe('The `next` of the previous page.');

/** The fields of a query that have a value: one without counts as absent. */
export const givenQuery = (
  query: Readonly<Record<string, string | undefined>> | null | undefined,
): Readonly<Record<string, string | undefined>> =>
  Object.fromEntries(Object.entries(query ?? {}).filter(([, value]) => value?.trim()));

const flagText = z.enum(['0', '1', 'false', 'true']);

/** A yes or no in a query, in any case: Python's clients send `True`. */
export const queryFlag = z
  .preprocess(
    (given: z.input<typeof flagText>) => (typeof given === 'string' ? given.toLowerCase() : given),
    flagText,
  )
  .transform((value) => value === '1' || value === 'true');

export const pathCharactersMax = 4096;
/** A length that the kernel takes: PATH_MAX without its NUL, and NAME_MAX. */
const pathBytesMax = 4095;
const stepBytesMax = 255;

const bytesOf = (text: string): number => new TextEncoder().encode(text).length;

/**
 * The rule that the path of a file breaks, as text; undefined for a valid one. The same for every tool and route, and inside
 * the sandbox once more: only the sandbox can resolve it.
 */
export const filePathProblem = (path: string): string | undefined => {
  if (path === '') return 'a path of at least one character';
  if (path.includes('\0')) return 'a path without NUL characters';
  if (!path.isWellFormed()) return 'a path without halves of characters';
  if (bytesOf(path) > pathBytesMax) return `a path of at most ${pathBytesMax} bytes`;
  return path.split('/').some((step) => bytesOf(step) > stepBytesMax)
    ? `a path with at most ${stepBytesMax} bytes between two slashes`
    : undefined;
};

/** A path that a file can have. The sandbox decides where it leads. */
export const filePath = z
  .string()
  .min(1, { error: 'must be a path of at least one character', abort: true })
  .max(pathCharactersMax)
  .refine((given) => filePathProblem(given) === undefined, {
    error: ({ input }) => `must be ${filePathProblem(String(input))}`,
  });
