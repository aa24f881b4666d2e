/**
 * The file of authorities that programs of the sandbox trust when the platform answers for some hosts: those of the system, and the
 * one of this sandbox. Its key is never here, so that nothing inside can sign for a host. User code cannot write to the file.
 */
import { readFileSync, renameSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { authoritiesFile } from '../../wire/messages.ts';

const systemAuthorities = '/etc/ssl/certs/ca-certificates.crt';

/** `socketPath`: of the relay's socket, beside which the file is; without one nothing passes, and nothing is written. */
export const writeAuthorities = (socketPath: string | undefined, certificate: string): boolean => {
  if (socketPath === undefined) return false;
  const path = join(dirname(socketPath), authoritiesFile);
  // Replaced as a whole: a program may read it now.
  writeFileSync(`${path}.new`, `${systemBundle()}\n${certificate}`, { mode: 0o644 });
  renameSync(`${path}.new`, path);
  return true;
};

/** An image may have none. */
const systemBundle = (): string => {
  try {
    return readFileSync(systemAuthorities, 'utf8');
  } catch {
    return '';
  }
};
