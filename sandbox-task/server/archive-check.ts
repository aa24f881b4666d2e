/**
 * The archive check: the order of an archive's frames, and the bounds of a workspace.
 *
 * The server checks every frame in both directions: out of the sandbox because user code can take the runner over,
 * into it because the runner trusts the server.
 */
import type { ArchiveFrame, ArchiveHeader } from '#shared/contracts/archive.ts';
import { workspaceBytesMax, workspaceEntriesMax } from '#shared/domain/checkpoint.ts';
import { Refusal } from './refusal.ts';

export type ArchiveCheck = {
  /** Throws on a frame that is out of order or over the bounds. */
  readonly check: (frame: ArchiveFrame) => void;
  readonly isEnded: () => boolean;
};

type State = 'start' | 'entries' | 'content' | 'end';
/** The state in which a frame is allowed, and the state after it. */
const order: Readonly<Record<ArchiveHeader['type'], { readonly in: State; readonly next: State }>> = {
  begin: { in: 'start', next: 'entries' },
  directory: { in: 'entries', next: 'entries' },
  symlink: { in: 'entries', next: 'entries' },
  file: { in: 'entries', next: 'content' },
  data: { in: 'content', next: 'content' },
  'file-end': { in: 'content', next: 'entries' },
  'left-out': { in: 'entries', next: 'entries' },
  removed: { in: 'entries', next: 'entries' },
  end: { in: 'entries', next: 'end' },
};

type ArchiveCheckOptions = {
  /** A checkpoint of the shared volume and a result that is applied name removed entries. */
  readonly allowsRemoved?: boolean;
};

export const createArchiveCheck = ({ allowsRemoved = false }: ArchiveCheckOptions = {}): ArchiveCheck => {
  let state: State = 'start';
  let entries = 0;
  let bytes = 0;
  let fileBytes = 0;
  return {
    check({ header, payload }) {
      const { type } = header;
      if (type === 'removed' && !allowsRemoved) throw malformed('removed at the wrong place');
      if (state !== order[type].in || (payload.length > 0 && type !== 'data')) {
        throw malformed(state === 'end' ? `${type} after its end` : `${type} at the wrong place`);
      }
      state = type === 'file' && header.same ? 'entries' : order[type].next;
      fileBytes = fileBytesAfter({ header, payload }, fileBytes);
      bytes += payload.length;
      if ('path' in header) entries += 1;
      refuseOver('entries', entries, workspaceEntriesMax);
      refuseOver('bytes', bytes, workspaceBytesMax);
    },
    isEnded: () => state === 'end',
  };
};

/** The end of a file repeats its length. */
const fileBytesAfter = ({ header, payload }: ArchiveFrame, fileBytes: number): number => {
  if (header.type === 'file') return 0;
  if (header.type === 'file-end' && header.size !== fileBytes) {
    throw malformed(`a file of ${fileBytes} bytes that says ${header.size}`);
  }
  return fileBytes + payload.length;
};

const malformed = (what: string): Refusal =>
  new Refusal('invalid_request', `the archive is malformed: ${what}`);

const refuseOver = (what: string, measured: number, max: number): void => {
  if (measured <= max) return;
  throw new Refusal('resource_limit_exceeded', `the archive has ${measured} ${what}; at most ${max}`);
};
