/**
 * The readings of a piece of code, in the order in which they are tried: JavaScript, then TypeScript, whose types are
 * stripped by Node (https://nodejs.org/api/module.html#modulestriptypescripttypescode-options).
 *
 * TypeScript comes first where a call may have type arguments: JavaScript would compare. Code that begins with a brace is read as an object first, as the REPL of Node does. `enum` and what else needs code of
 * its own is transformed; its places are found by the source map.
 */
import { SourceMap, stripTypeScriptTypes } from 'node:module';
import { toScript } from './rewrite-code.ts';
import { withoutWarning } from './scope.ts';

/** Lines from 1, columns from 0. */
export type Place = { readonly line: number; readonly column: number };
export type Reading = {
  readonly script: string;
  /** From a place of the script to that of the code. */
  readonly toSource: (place: Place) => Place;
};

export const readingsOf = function* (code: string): Generator<Reading> {
  const forms = isLikeObject(code) ? [asExpression(code), plain(code)] : [plain(code)];
  if (typeArguments.test(code)) yield* typedReadingsOf(forms);
  for (const form of forms) yield { ...form, script: toScript(form.script) };
  yield* typedReadingsOf(forms);
};

/** `f<T>(x)`. */
const typeArguments = /[\w$]<[\w$\s,.|&<>[\]{}'":?]*>\s*\(/;

const typedReadingsOf = function* (forms: readonly Reading[]): Generator<Reading> {
  for (const { script, toSource } of forms) {
    const stripped = withoutTypes(script);
    if (stripped === undefined || stripped.script === script) continue;
    yield {
      script: toScript(stripped.script),
      toSource: (place) => toSource(stripped.toSource(place)),
    };
  }
};

const isLikeObject = (code: string): boolean => /^\s*\{/.test(code) && !/;\s*$/.test(code);

const same = (place: Place): Place => place;
const plain = (code: string): Reading => ({ script: code, toSource: same });

/** A comment may be its last line. */
const asExpression = (code: string): Reading => ({
  script: `(${code}\n)`,
  toSource: ({ line, column }) => ({ line, column: line === 1 ? Math.max(0, column - 1) : column }),
});

const withoutTypes = (code: string): Reading | undefined => {
  try {
    return plain(withoutWarning(() => stripTypeScriptTypes(code)));
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === 'ERR_UNSUPPORTED_TYPESCRIPT_SYNTAX'
      ? transformed(code)
      : undefined;
  }
};

const mapComment = /\n\/\/# sourceMappingURL=data:application\/json;base64,(\S+)\s*$/;

const transformed = (code: string): Reading | undefined => {
  try {
    const options = { mode: 'transform', sourceMap: true } as const;
    const script = withoutWarning(() => stripTypeScriptTypes(code, options));
    const encoded = mapComment.exec(script)?.[1] ?? '';
    const map = new SourceMap(JSON.parse(Buffer.from(encoded, 'base64').toString()));
    return { script: script.replace(mapComment, ''), toSource: (place) => sourceOf(map, place) };
  } catch {
    // It is no TypeScript either: the error of JavaScript is reported.
    return undefined;
  }
};

const sourceOf = (map: SourceMap, place: Place): Place => {
  const entry = map.findEntry(place.line - 1, place.column);
  return 'originalLine' in entry ? { line: entry.originalLine + 1, column: entry.originalColumn } : place;
};
