/**
 * The type of a route, and the address that its parts make.
 *
 * A route says what goes in and what comes out; the contracts say their shapes.
 */
import { SallyportError } from './errors.ts';

export type Method = 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE';

/** The names in braces of a path. */
type NamesIn<Path extends string> = Path extends `${string}{${infer Name}}${infer Rest}`
  ? Name | NamesIn<Rest>
  : never;

export type Route<Path extends string, Shapes> = {
  readonly method: Method;
  readonly path: Path;
  /** Carried by the type alone. */
  readonly shapes?: Shapes;
};

export const route =
  <S>() =>
  <Path extends string>(method: Route<Path, S>['method'], path: Path): Route<Path, S> => ({ method, path });

export type Shapes = { readonly query?: unknown; readonly body?: unknown; readonly answer: unknown };

/** The parts of a request that a route leaves open. */
type Parts<Path extends string, S extends Shapes> = ([NamesIn<Path>] extends [never]
  ? object
  : { readonly params: Readonly<Record<NamesIn<Path>, string>> }) &
  ('query' extends keyof S ? { readonly query?: S['query'] } : object) &
  ('body' extends keyof S ? { readonly body: S['body'] } : object);

export type AnswerOf<R> = R extends Route<string, infer S extends Shapes> ? S['answer'] : never;
export type BodyOf<R> = R extends Route<string, { readonly body: infer Body }> ? Body : never;
export type QueryOf<R> = R extends Route<string, { readonly query: infer Query }> ? Query : never;

export type Signalled = { readonly signal?: AbortSignal | undefined };

export type RequestOptions = Signalled & {
  readonly timeoutMs?: number | undefined;
  /** When it is sent again; absent: by its method. */
  readonly repeat?: Repeat | undefined;
  /** All tries counted; absent: those of the client. */
  readonly triesMax?: number | undefined;
  /** No further try begins after its abort; the one that is under way goes on to its answer. */
  readonly triesSignal?: AbortSignal | undefined;
};

/**
 * `lost`: also when its answer was lost, since a second one changes nothing. `refused`: only when the server did nothing,
 * for its rate or for a sandbox that still starts. `limited`: only for its rate.
 */
export type Repeat = 'lost' | 'refused' | 'limited';

export type RequestArguments<Path extends string, S extends Shapes> =
  object extends Parts<Path, S>
    ? [parts?: Parts<Path, S>, options?: RequestOptions]
    : [parts: Parts<Path, S>, options?: RequestOptions];

export type WireParts = {
  readonly params?: Readonly<Record<string, string>>;
  readonly query?: Readonly<Record<string, unknown>>;
  readonly body?: unknown;
};

/** A name of the caller stays in its place of the address. */
export const pathOf = (path: string, params: WireParts['params'] = {}): string =>
  path.replace(/\{(\w+)\}/g, (_, name: string) => partOf(name, params[name]));

const partOf = (name: string, value: string | undefined): string => {
  // Without its last part the address would be that of the whole list.
  if (!value)
    throw new SallyportError(0, {
      code: 'invalid_request',
      message: `\`${name}\` is empty`,
      suggestions: ['Give the id or the name.'],
    });
  // A URL parser takes `..` for the resource above, encoded or not: with a NUL behind it the server refuses it as a name.
  return encodeURIComponent(value).replace(/^\.\.?$/, '$&%00');
};

/** A list is its name with each value. */
export const queryOf = (query: WireParts['query'] = {}): string => {
  const given = Object.entries(query).flatMap(([name, value]) =>
    [value ?? []].flat().map((one): [string, string] => [name, String(one)]),
  );
  const text = new URLSearchParams(given).toString();
  return text === '' ? '' : `?${text.replaceAll('+', '%20')}`;
};
