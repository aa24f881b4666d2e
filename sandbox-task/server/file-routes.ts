/** The routes of the sandbox for files and folders; `PUT` of a name with a slash at its end would make an empty file. */
import { type Exchange, parseUserPath, queryPath } from './exchange.ts';
import { deleteFile, listFiles, receiveFile, sendFile } from './files.ts';
import { changeFolder, receiveArchive, sendArchive, sendEntry, sendTree, watchFolder } from './folders.ts';
import { Refusal } from './refusal.ts';
import type { UploadMemory } from './upload-memory.ts';
import type { UserSide } from './user-side.ts';

type FileRoute = {
  readonly pattern: RegExp;
  readonly serve: (
    parts: { readonly userSide: UserSide; readonly uploads: UploadMemory },
    exchange: Exchange,
  ) => Promise<void>;
};

export const fileRoutes: readonly FileRoute[] = [
  {
    pattern: /^GET \/files$/,
    serve: ({ userSide }, exchange) => {
      const list = exchange.query.get('recursive') === '1' ? sendTree : listFiles;
      return list({ userSide, ...exchange }, folderOf(exchange));
    },
  },
  {
    pattern: /^GET \/stat$/,
    serve: ({ userSide }, exchange) => sendEntry({ userSide, ...exchange }, folderOf(exchange)),
  },
  {
    pattern: /^GET \/watch$/,
    serve: ({ userSide }, exchange) => watchFolder({ userSide, ...exchange }, folderOf(exchange)),
  },
  {
    pattern: /^GET \/files\/(.*)$/s,
    serve: ({ userSide }, exchange) => {
      const send = isArchive(exchange) ? sendArchive : sendFile;
      return send({ userSide, ...exchange }, parseUserPath(exchange.name || '.'));
    },
  },
  {
    pattern: /^PUT \/files\/(.*)$/s,
    serve: ({ userSide, uploads }, exchange) => {
      const path = parseUserPath(exchange.name || '.');
      if (isArchive(exchange)) return receiveArchive({ userSide, uploads, ...exchange }, path);
      if (path.endsWith('/')) throw new Refusal('invalid_request', `${path} is the name of a folder`);
      return receiveFile({ userSide, uploads, ...exchange }, path);
    },
  },
  {
    pattern: /^POST \/files\/(.+)$/s,
    serve: ({ userSide }, exchange) => {
      const op = exchange.query.get('op') ?? '';
      const to = op === 'mkdir' ? '' : parseUserPath(queryPath(exchange.request, 'to'));
      const overwrites = exchange.query.get('overwrite') === '1';
      const path = parseUserPath(exchange.name);
      return changeFolder({ userSide, ...exchange }, { op, path, to, overwrites });
    },
  },
  {
    pattern: /^DELETE \/files\/(.*)$/s,
    serve: ({ userSide }, exchange) =>
      deleteFile({ userSide, ...exchange }, parseUserPath(exchange.name || '.')),
  },
];

const folderOf = ({ request }: Exchange): string => parseUserPath(queryPath(request) || '.');

const isArchive = ({ query }: Exchange): boolean => {
  const archive = query.get('archive');
  if (archive === null || archive === 'tar.gz') return archive !== null;
  throw new Refusal('invalid_request', 'archive is tar.gz');
};
