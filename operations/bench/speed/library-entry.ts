/** A program that imports only the libraries of a function, as its sources import them: the floor of a cold start. */

export type Source = { readonly path: string; readonly text: string };

/** One statement: the names that follow `import`, and the package. Type imports are gone before a program runs. */
const statement = /^import (?!type\b)([^;]*?) from '([^'.#][^']*)';/gm;

export const libraryEntry = (sources: readonly Source[]): string => {
  const uses = sources.flatMap(({ text }) => usesOf(text));
  const parts = new Map<string, string>();
  for (const { key } of uses) if (!parts.has(key)) parts.set(key, `part${parts.size}`);
  const lines = [...parts].map(([key, alias]) => importOf(key, alias));
  const kept = new Set(uses.map(({ key, member }) => `${parts.get(key)}${member}`));
  return `${lines.join('\n')}\nglobalThis.kept = [${[...kept].join(', ')}];\n`;
};

/** One thing that a text has of a package: `key` is its name and the package, `member` the part of a namespace. */
type Use = { readonly key: string; readonly member: string };

const usesOf = (text: string): readonly Use[] =>
  Array.from(text.matchAll(statement), ([, clause = '', specifier = '']) => ({ clause, specifier }))
    .filter(({ specifier }) => !specifier.startsWith('node:'))
    .flatMap(({ clause, specifier }) =>
      namesOf(clause).flatMap(({ name, local }) =>
        (name === '*' ? membersOf(text, local) : ['']).map((member) => ({
          key: `${name} ${specifier}`,
          member,
        })),
      ),
    );

const importOf = (key: string, alias: string): string => {
  const [name, specifier] = key.split(' ');
  return name === '*'
    ? `import * as ${alias} from '${specifier}';`
    : `import { ${name} as ${alias} } from '${specifier}';`;
};

type Imported = { readonly name: string; readonly local: string };

const namesOf = (clause: string): readonly Imported[] => {
  const space = /\* as (\w+)/.exec(clause)?.[1];
  if (space !== undefined) return [{ name: '*', local: space }];
  const inside = /\{([\s\S]*)\}/.exec(clause)?.[1] ?? '';
  const named = inside
    .split(',')
    .map((part) => part.trim())
    .filter((part) => part !== '' && !part.startsWith('type '))
    .map((part) => ({ name: part.split(/\s+as\s+/)[0] ?? part, local: part }));
  const whole = /^(\w+)/.exec(clause.trim())?.[1];
  return whole === undefined ? named : [{ name: 'default', local: whole }, ...named];
};

/** A namespace is kept by the members that the text uses: all of it would be more than a function has. */
const membersOf = (text: string, local: string): readonly string[] =>
  [
    ...new Set(
      Array.from(
        text.matchAll(new RegExp(`\\b${local}(\\.[A-Za-z_$][\\w$]*)`, 'g')),
        ([, member = '']) => member,
      ),
    ),
  ].filter((member) => !typeMembers.includes(member));

/** Of zod: names of types alone. */
const typeMembers = ['.output', '.input', '.infer', '.ZodType', '.ZodObject', '.ZodRawShape'];
