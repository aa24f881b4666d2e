/**
 * A type as self-contained text: the shape that the type checker has found, without the schemas from which it came.
 *
 * Named shapes are referred to by their names.
 */
import ts from 'typescript';

export type TypePrinter = { readonly print: (type: ts.Type) => string };

const flags = ts.TypeFlags;
/** The names of these are their text. */
const plain =
  flags.Any |
  flags.Unknown |
  flags.String |
  flags.Number |
  flags.Boolean |
  flags.BooleanLiteral |
  flags.Undefined |
  flags.Null |
  flags.Never |
  flags.Void;

const isBrandedText = (type: ts.Type): boolean =>
  type.isIntersection() && type.types.some((part) => part.flags & flags.StringLike);

/** Recursive shapes, which have no text of their own. */
const jsonNames: Readonly<Record<string, string>> = {
  Json: 'Json',
  JSONType: 'Json',
  JsonObject: 'JsonObject',
};
const jsonModule = '../shared/domain/json.ts';

const memberName = (name: string): string => (/^[A-Za-z_$][\w$]*$/.test(name) ? name : JSON.stringify(name));

export const makeTypePrinter = (
  checker: ts.TypeChecker,
  nameOf: (type: ts.Type) => string | undefined,
): TypePrinter => {
  const open = new Set<ts.Type>();

  const print = (type: ts.Type): string => {
    const json = jsonNames[type.aliasSymbol?.name ?? ''];
    if (json !== undefined) return `import('${jsonModule}').${json}`;
    const name = nameOf(type);
    if (name !== undefined) return name;
    if (open.has(type)) throw new Error(`${checker.typeToString(type)} contains itself`);
    open.add(type);
    try {
      return printShape(type);
    } finally {
      open.delete(type);
    }
  };

  const printShape = (type: ts.Type): string => {
    if (type.flags & plain) return checker.typeToString(type);
    if (type.isStringLiteral() || type.isNumberLiteral()) return JSON.stringify(type.value);
    if (type.isUnion()) return printUnion(type);
    if (isBrandedText(type)) return 'string';
    if (checker.isTupleType(type) || checker.isArrayType(type)) return printList(type as ts.TypeReference);
    if (type.flags & flags.Object || type.isIntersection()) return printObject(type);
    throw new Error(`${checker.typeToString(type)} has no text`);
  };

  const printUnion = (type: ts.UnionType): string => {
    const parts = type.types.map((part) => print(part));
    const [yes, no] = [parts.indexOf('true'), parts.indexOf('false')];
    const joined =
      yes >= 0 && no >= 0 ? [...parts.filter((_, at) => at !== yes && at !== no), 'boolean'] : parts;
    return [...new Set(joined)].join(' | ');
  };

  const printList = (type: ts.TypeReference): string => {
    const items = checker.getTypeArguments(type).map((item) => print(item));
    if (checker.isTupleType(type)) return `readonly [${items.join(', ')}]`;
    const [item = 'never'] = items;
    return /^\w+$/.test(item) ? `readonly ${item}[]` : `readonly (${item})[]`;
  };

  const printObject = (type: ts.Type): string => {
    const members = checker.getPropertiesOfType(type).map((property) => {
      const optional = property.flags & ts.SymbolFlags.Optional ? '?' : '';
      return `readonly ${memberName(property.name)}${optional}: ${print(checker.getTypeOfSymbol(property))}`;
    });
    const indexes = checker
      .getIndexInfosOfType(type)
      .map(({ keyType, type: value }) => `readonly [key: ${print(keyType)}]: ${print(value)}`);
    return `{ ${[...members, ...indexes].join('; ')} }`;
  };

  return { print };
};
