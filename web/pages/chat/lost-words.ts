/** Words of the banner of a connection that is tried again. */
import type { Link } from '../../session/view-state.ts';

type LostWords = {
  readonly what: string;
  /** The next step; not announced, since it counts. */
  readonly next: string;
  readonly nextAt: number;
};

/** Undefined for a connection that is not waiting for a try. */
export const lostWords = (link: Link): LostWords | undefined => {
  switch (link.kind) {
    case 'busy':
      return { what: 'The server is busy', next: 'trying again', nextAt: link.nextAt };
    case 'offline':
      return {
        what: link.isServer ? 'The server does not answer' : "You're offline",
        next: 'reconnecting',
        nextAt: link.nextAt,
      };
    case 'reconnecting':
      return { what: 'Reconnecting', next: '', nextAt: link.nextAt };
    default:
      return undefined;
  }
};
