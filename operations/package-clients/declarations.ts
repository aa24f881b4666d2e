/**
 * The declarations of the client library, for programs that have neither the contracts nor their schema library.
 *
 * In a module that takes types from the contracts, these types are replaced by their shapes; the compiler then writes the
 * declarations of all modules.
 */
import { dirname, join, relative } from 'node:path';
import ts from 'typescript';
import { makeTypePrinter, type TypePrinter } from './type-text.ts';

/** Of what is not said to a user of the package. */
const schemaModules = /^zod$|[/]shared[/]contracts[/]/;

export type Declaration = { readonly path: string; readonly text: string };

/** The paths are relative to the folder above the one of the entry. */
export const makeDeclarations = (entry: string): readonly Declaration[] => {
  const root = dirname(dirname(entry));
  const options = optionsOf(dirname(entry));
  const sources = ts.createProgram([entry], options);
  const rewritten = new Map(
    sources
      .getSourceFiles()
      .filter(({ fileName }) => fileName.startsWith(`${dirname(entry)}/`))
      .flatMap((file) => {
        const text = withoutSchemas(sources.getTypeChecker(), file);
        return text === undefined ? [] : [[file.fileName, text] as const];
      }),
  );
  const host = ts.createCompilerHost(options);
  const read = host.readFile;
  host.readFile = (path) => rewritten.get(path) ?? read(path);
  const getSource = host.getSourceFile;
  host.getSourceFile = (path, ...given) => {
    const text = rewritten.get(path);
    return text === undefined
      ? getSource(path, ...given)
      : ts.createSourceFile(path, text, ts.ScriptTarget.ES2024);
  };
  const program = ts.createProgram([entry], options, host);
  refuse(ts.getPreEmitDiagnostics(program));
  const declarations: Declaration[] = [];
  const { diagnostics } = program.emit(undefined, (path, text) => {
    declarations.push({
      path: relative(root, path),
      text: text.replaceAll(/(['"])(\.[^'"]*)\.ts\1/g, '$1$2.js$1'),
    });
  });
  refuse(diagnostics);
  const reached = reachedFrom(relative(root, entry.replace(/\.ts$/, '.d.ts')), declarations);
  const left = reached.find(({ text }) => /['"]zod['"]|\/contracts\//.test(text));
  if (left !== undefined) throw new Error(`${left.path} names a schema`);
  return reached;
};

/** The compiler writes a declaration for each module that it has read. */
const reachedFrom = (path: string, declarations: readonly Declaration[]): readonly Declaration[] => {
  const byPath = new Map(declarations.map((declaration) => [declaration.path, declaration]));
  const reached = new Map<string, Declaration>();
  const visit = (next: string): void => {
    const found = byPath.get(next);
    if (found === undefined || reached.has(next)) return;
    reached.set(next, found);
    for (const [, target = ''] of found.text.matchAll(/['"](\.[^'"]*)\.js['"]/g))
      visit(`${join(dirname(next), target)}.d.ts`);
  };
  visit(path);
  return [...reached.values()];
};

const optionsOf = (folder: string): ts.CompilerOptions => {
  const path = join(folder, 'tsconfig.json');
  const { config } = ts.readConfigFile(path, ts.sys.readFile);
  const { options } = ts.parseJsonConfigFileContent(config, ts.sys, folder);
  const { tsBuildInfoFile: _, ...kept } = options;
  return {
    ...kept,
    incremental: false,
    noEmit: false,
    declaration: true,
    emitDeclarationOnly: true,
    noUnusedLocals: false,
  };
};

const refuse = (diagnostics: readonly ts.Diagnostic[]): void => {
  const [first] = diagnostics;
  if (first === undefined) return;
  const where = first.file?.fileName ?? '';
  throw new Error(`${where}: ${ts.flattenDiagnosticMessageText(first.messageText, '\n')}`);
};

/** Undefined where nothing has to be replaced. */
const withoutSchemas = (checker: ts.TypeChecker, file: ts.SourceFile): string | undefined => {
  const imports = file.statements.filter(isSchemaImport);
  if (imports.length === 0) return undefined;
  const foreign = new Set(imports.flatMap(namesOf));
  const names = namedShapes(checker, file);
  const texts = file.statements.map((statement) => {
    if (isSchemaImport(statement)) return '';
    if (ts.isTypeAliasDeclaration(statement) && mentions(statement, foreign)) {
      if (statement.typeParameters !== undefined) {
        foreign.add(statement.name.text);
        return '';
      }
      const type = checker.getTypeFromTypeNode(statement.type);
      const printer = makeTypePrinter(checker, (named) => (named === type ? undefined : names.get(named)));
      return `export type ${statement.name.text} = ${printer.print(type)};`;
    }
    const routes = routeTable(statement);
    const text = statement.getFullText(file);
    return routes === undefined
      ? text
      : tableText(
          checker,
          routes,
          makeTypePrinter(checker, (type) => names.get(type)),
        );
  });
  return texts.join('\n');
};

const isSchemaImport = (statement: ts.Statement): statement is ts.ImportDeclaration =>
  ts.isImportDeclaration(statement) &&
  ts.isStringLiteral(statement.moduleSpecifier) &&
  schemaModules.test(statement.moduleSpecifier.text);

const namesOf = ({ importClause }: ts.ImportDeclaration): readonly string[] => {
  const bindings = importClause?.namedBindings;
  if (bindings === undefined) return [];
  return ts.isNamespaceImport(bindings)
    ? [bindings.name.text]
    : bindings.elements.map(({ name }) => name.text);
};

const mentions = (node: ts.Node, names: ReadonlySet<string>): boolean =>
  (ts.isIdentifier(node) && names.has(node.text)) ||
  (ts.forEachChild(node, (child) => mentions(child, names) || undefined) ?? false);

/** The first exported name of a shape stands for it wherever it occurs. */
const namedShapes = (checker: ts.TypeChecker, file: ts.SourceFile): ReadonlyMap<ts.Type, string> => {
  const names = new Map<ts.Type, string>();
  for (const statement of file.statements) {
    if (!ts.isTypeAliasDeclaration(statement) || statement.typeParameters !== undefined) continue;
    const type = checker.getTypeFromTypeNode(statement.type);
    if (type.flags & ts.TypeFlags.Object && !names.has(type)) names.set(type, statement.name.text);
  }
  return names;
};

/** An exported constant whose members are routes; its module need not know their type by name. */
const routeTable = (statement: ts.Statement): ts.VariableDeclaration | undefined => {
  if (!ts.isVariableStatement(statement)) return undefined;
  const [declaration] = statement.declarationList.declarations;
  const value = declaration?.initializer;
  return value !== undefined && ts.isAsExpression(value) && ts.isObjectLiteralExpression(value.expression)
    ? declaration
    : undefined;
};

const tableText = (checker: ts.TypeChecker, table: ts.VariableDeclaration, printer: TypePrinter): string => {
  const members = checker.getPropertiesOfType(checker.getTypeAtLocation(table)).map((property) => {
    const [path, shapes] = checker.getTypeOfSymbol(property).aliasTypeArguments ?? [];
    if (path === undefined || shapes === undefined) throw new Error(`${property.name} is no route`);
    return `readonly ${property.name}: import('./route.ts').Route<${printer.print(path)}, ${printer.print(shapes)}>;`;
  });
  return `export declare const ${table.name.getText()}: {\n${members.join('\n')}\n};`;
};
