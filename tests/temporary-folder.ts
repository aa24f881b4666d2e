/**
 * One folder for everything that a test run puts aside: it is gone when the run has ended.
 *
 * Its name is short, since sockets are made below it whose paths have at most 107 bytes (unix(7)); and
 * the users of sandboxes must get through it.
 */
import { chmodSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

export const temporaryFolder = mkdtempSync(join(tmpdir(), 'spt-'));
chmodSync(temporaryFolder, 0o711);
process.once('exit', () => rmSync(temporaryFolder, { recursive: true, force: true }));
