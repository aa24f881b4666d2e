/** The syncs of files and folders, which decide about what a loss of power leaves. */
import { readlinkSync } from 'node:fs';
import { type FileHandle, open } from 'node:fs/promises';
import { relative } from 'node:path';
import { onTestFinished, vi } from 'vitest';

/** Calls after each sync, until the test ends, with the path in the folder: `a` for itself and `a/*` for anything below. */
export const onSync = async (folder: string, seen: (path: string) => Promise<void>): Promise<void> => {
  const handle = await open(folder);
  const methods = Object.getPrototypeOf(handle) as FileHandle;
  await handle.close();
  for (const name of ['sync', 'datasync'] as const) {
    const original = methods[name];
    const spy = vi.spyOn(methods, name).mockImplementation(async function (this: FileHandle) {
      const path = relative(folder, readlinkSync(`/proc/self/fd/${this.fd}`));
      await original.call(this);
      await seen(path.replace(/[/].*/, '/*'));
    });
    onTestFinished(() => spy.mockRestore());
  }
};
