/**
 * Promises of the documents that a machine can look up: commands, links, files of the code, decision records.
 *
 * A document is a Markdown file. Its reader judges its truth; this module checks that its commands exist, that its
 * links resolve and that the files and folders it names exist.
 */
import { posix } from 'node:path';
import { type RepositoryFile, textOf } from './repository.ts';

const isDocument = ({ path }: RepositoryFile): boolean => path.endsWith('.md');

/** `npm run x`, and the two scripts that npm runs without the word. */
const npmCommand = /\bnpm (?:run ([\w:-]+)|(start|test)\b)/g;
const inlineLink = /\]\(([^)\s]+)\)/g;
const hasScheme = /^[a-z]+:/;

export const commandComplaints = (files: readonly RepositoryFile[]): readonly string[] => {
  const { scripts } = JSON.parse(textOf(files, 'package.json')) as { readonly scripts: object };
  return files
    .filter(isDocument)
    .flatMap(({ path, text }) =>
      Array.from(text.matchAll(npmCommand), ([, named, short]) => ({ path, script: named ?? short ?? '' })),
    )
    .filter(({ script }) => !(script in scripts))
    .map(({ path, script }) => `${path} names the command ${script}, which package.json has not`);
};

export const linkComplaints = (files: readonly RepositoryFile[]): readonly string[] => {
  const places = new Set(files.flatMap(({ path }) => [path, ...foldersOf(path)]));
  return files
    .filter(isDocument)
    .flatMap(({ path, text }) =>
      Array.from(text.matchAll(inlineLink), ([, target = '']) => ({ path, target })),
    )
    .filter(({ target }) => !hasScheme.test(target) && !target.startsWith('#'))
    .filter(({ path, target }) => !places.has(resolve(path, target)))
    .map(({ path, target }) => `${path} links to ${target}, which is not there`);
};

/** A source file, by its path or the end of its path: `shared/domain/turn/reduce.ts`, `reduce.ts`. */
const sourceName = /`((?:[\w.-]+\/)*[\w.-]+\.(?:ts|mjs|vue|py|sh))`/g;
/** A path with a slash, which names something of ours when it begins with one of our folders. */
const pathName = /`([\w-]+)(\/[\w./-]*)`/g;

export const pathComplaints = (files: readonly RepositoryFile[]): readonly string[] => {
  const places = files.flatMap(({ path }) => [path, ...foldersOf(path)]);
  const known = new Set(places);
  const ends = new Set(places.flatMap(endsOf));
  const isTopFolder = (name: string): boolean => known.has(name);
  return files.filter(isDocument).flatMap(({ path, text }) => {
    const sources = Array.from(text.matchAll(sourceName), ([, name = '']) => name);
    const paths = Array.from(text.matchAll(pathName), ([, folder = '', rest = '']) =>
      isTopFolder(folder) ? `${folder}${rest}`.replace(/\/$/, '') : '',
    );
    const missing = [
      ...sources.filter((name) => !ends.has(name)),
      ...paths.filter((name) => name !== '' && !known.has(name) && !name.endsWith('/fixtures')),
    ];
    return [...new Set(missing)].map((name) => `${path} names ${name}, which is not there`);
  });
};

/** `a/b/c`, `b/c`, `c`. */
const endsOf = (path: string): readonly string[] => {
  const rest = path.indexOf('/');
  return rest < 0 ? [path] : [path, ...endsOf(path.slice(rest + 1))];
};

const foldersOf = (path: string): readonly string[] => {
  const folder = posix.dirname(path);
  return folder === '.' ? ['.'] : [folder, ...foldersOf(folder)];
};

const resolve = (from: string, target: string): string =>
  posix.join(posix.dirname(from), target.replace(/#.*$/, '')).replace(/\/$/, '');

const recordPath = /^docs\/adr\/(?!README\.md$)(.+)$/;
const recordName = /^(\d{4})-[a-z0-9-]+\.md$/;
const recordStatus = /^Status: (?:proposed|accepted|rejected|superseded by \d{4})\b/m;

export const decisionComplaints = (files: readonly RepositoryFile[]): readonly string[] => {
  const index = textOf(files, 'docs/adr/README.md');
  const records = files
    .flatMap(({ path, text }) => {
      const name = recordPath.exec(path)?.[1];
      return name === undefined ? [] : [{ name, text }];
    })
    .toSorted((a, b) => (a.name < b.name ? -1 : 1));
  return records.flatMap(({ name, text }, position) => {
    const number = String(position + 1).padStart(4, '0');
    return [
      recordName.exec(name)?.[1] === number ? [] : `${name} is not number ${number}`,
      recordStatus.test(text) ? [] : `${name} has no status`,
      index.includes(`](${name})`) ? [] : `${name} is not listed in docs/adr/README.md`,
    ].flat();
  });
};
