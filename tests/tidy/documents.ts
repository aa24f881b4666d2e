/**
 * Names that a machine can look up: in documents the commands, links, files, folders and decision records; in sources the
 * files that are named by their pieces.
 *
 * A document is a Markdown file. Its reader judges its truth; this module checks that what it names exists.
 */
import { posix } from 'node:path';
import { isSource, isTest, type RepositoryFile, textOf } from './repository.ts';

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
  const isThere = ({ path, target }: Link): boolean => {
    const [file = '', anchor] = target.split('#');
    const named = file === '' ? path : resolve(path, target);
    if (!places.has(named)) return false;
    return anchor === undefined || !named.endsWith('.md') || anchorsOf(textOf(files, named)).has(anchor);
  };
  return files
    .filter(isDocument)
    .flatMap(({ path, text }) =>
      Array.from(text.matchAll(inlineLink), ([, target = '']) => ({ path, target })),
    )
    .filter(({ target }) => !hasScheme.test(target))
    .filter((link) => !isThere(link))
    .map(({ path, target }) => `${path} links to ${target}, which is not there`);
};

type Link = { readonly path: string; readonly target: string };

const codeBlock = /^```.*?^```/gms;
const headingLine = /^#{1,6} (.+)$/gm;

/** The headings of a document as GitHub names them in an address. */
const anchorsOf = (text: string): ReadonlySet<string> =>
  new Set(
    Array.from(text.replaceAll(codeBlock, '').matchAll(headingLine), ([, heading = '']) =>
      heading
        .toLowerCase()
        .replaceAll(/[^\p{L}\p{N} _-]/gu, '')
        .replaceAll(' ', '-'),
    ),
  );

const sectionOf = /\b((?:docs\/)(?:[\w-]+\/)*[\w-]+\.md), "([^"\n]+)"/g;

/** Sections that a source or a document names by their titles. */
export const sectionComplaints = (files: readonly RepositoryFile[]): readonly string[] =>
  files.flatMap(({ path, text }) =>
    Array.from(text.matchAll(sectionOf), ([, named = '', title = '']) => ({ named, title }))
      .filter(
        ({ named, title }) =>
          !textOf(files, named)
            .split('\n')
            .some((line) => /^#+ /.test(line) && line.replace(/^#+ /, '') === title),
      )
      .map(({ named, title }) => `${path} names the section "${title}" of ${named}, which is not there`),
  );

/** A source file, by its path or the end of its path: `shared/domain/turn/reduce.ts`, `reduce.ts`. */
const sourceName = /`((?:[\w.-]+\/)*[\w.-]+\.(?:ts|mjs|vue|py|sh))`/g;
/** A path with a slash, which names something of ours when it begins with one of our folders. */
const pathName = /`([\w-]+)(\/[\w./-]*)`/g;
/** A path with a gap, which is to fit some name of ours: `functions/<name>/handler.ts`. */
const pathPattern = /`([\w-]+)(\/[\w./<>*-]*[<*][\w./<>*-]*)`/g;
const patternGap = /<[\w-]+>|\*/g;

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
    const patterns = Array.from(text.matchAll(pathPattern), ([, folder = '', rest = '']) =>
      isTopFolder(folder) ? `${folder}${rest}`.replace(/\/$/, '') : '',
    );
    const missing = [
      ...patterns.filter((pattern) => pattern !== '' && !places.some((place) => fits(place, pattern))),
      ...sources.filter((name) => !ends.has(name)),
      ...paths.filter((name) => name !== '' && !known.has(name) && !name.endsWith('/fixtures')),
    ];
    return [...new Set(missing)].map((name) => `${path} names ${name}, which is not there`);
  });
};

const fits = (place: string, pattern: string): boolean =>
  new RegExp(`^${pattern.replaceAll('.', String.raw`\.`).replaceAll(patternGap, '[^/]+')}$`).test(place);

const folderRow = /^\| `([\w/-]+)` \| (.+) \|$/gm;
const plainWord = /`([\w-]+)`/g;

/** The table of folders: a row names a folder, and each plain name in its text is one inside it, or a top one. */
export const folderComplaints = (files: readonly RepositoryFile[]): readonly string[] => {
  const places = new Set(files.flatMap(({ path }) => [path, ...foldersOf(path)]));
  const table = textOf(files, 'ARCHITECTURE.md').split('## Folders')[1]?.split('\n## ')[0] ?? '';
  return Array.from(table.matchAll(folderRow)).flatMap(([, folder = '', text = '']) => {
    const inside = Array.from(text.matchAll(plainWord), ([, name = '']) => name);
    const missing = inside.filter((name) => !places.has(`${folder}/${name}`) && !places.has(name));
    return [...(places.has(folder) ? [] : [folder]), ...missing.map((name) => `${folder}/${name}`)].map(
      (name) => `ARCHITECTURE.md names the folder ${name}, which is not there`,
    );
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

const computedPath = /\bjoin\(import\.meta\.dirname, ((?:'[^']+'(?:, )?)+)\)/g;

/** Files of ours that a source names by their pieces, which no compiler follows when one moves. */
export const computedPathComplaints = (files: readonly RepositoryFile[]): readonly string[] => {
  const known = new Set(files.map(({ path }) => path));
  return files.filter(isSource).flatMap(({ path, text }) =>
    Array.from(text.matchAll(computedPath), ([, pieces = '']) =>
      posix.join(posix.dirname(path), ...pieces.split(', ').map((piece) => piece.slice(1, -1))),
    )
      // Fixtures are not read with the repository: the tests beside them load each.
      .filter((named) => !named.includes('/fixtures/'))
      .filter((named) => isSource({ path: named, text: '' }) && !known.has(named))
      .map((named) => `${path} names ${named}, which is not there`),
  );
};

/** A whole path in a comment or a text; an import is relative, or begins with another sign. */
const namedFile = /(?<![\w/.@#-])([\w-]+)(\/(?:[\w-]+\/)*[\w.-]+\.(?:ts|vue|py|sh|md))\b/g;

/** Files of ours that a source names by their whole path. Tests name some that are not there on purpose. */
export const namedFileComplaints = (files: readonly RepositoryFile[]): readonly string[] => {
  const known = new Set(files.map(({ path }) => path));
  const topFolders = new Set(files.map(({ path }) => path.split('/')[0] ?? ''));
  return files
    .filter((file) => isSource(file) && !isTest(file))
    .flatMap(({ path, text }) =>
      Array.from(text.matchAll(namedFile), ([, top = '', rest = '']) => ({
        path,
        top,
        named: `${top}${rest}`,
      })),
    )
    .filter(({ top, named }) => topFolders.has(top) && !named.includes('/fixtures/') && !known.has(named))
    .map(({ path, named }) => `${path} names ${named}, which is not there`);
};

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
