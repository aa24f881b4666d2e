/** Links to files, by the hash of their secret; the secret itself is never stored. */
import type { FileLink } from '../domain/file-link.ts';

export interface FileLinkStore {
  put(hash: string, link: FileLink): Promise<void>;
  get(hash: string): Promise<FileLink | undefined>;
  /** Claims the one write of a link; false when it was claimed before, or the link is gone. */
  use(hash: string, now: number): Promise<boolean>;
  /** Takes a claim back whose write did not happen. */
  release(hash: string): Promise<void>;
}
