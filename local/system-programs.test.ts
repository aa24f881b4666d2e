/** The packages that are installed, and the advice that is printed instead. */
import { expect, test } from 'vitest';
import { planProvision } from './system-programs.ts';

const plan = (programs: readonly string[], isRoot: boolean) =>
  planProvision({ hasProgram: (path) => programs.includes(path), searchPath: '/opt/bin', isRoot });

test('a machine with both programs needs no installation', () => {
  expect(plan(['/usr/bin/bwrap', '/usr/bin/python3'], true)).toEqual({ kind: 'complete' });
});

test('root on a Debian installs missing programs', () => {
  expect(plan(['/usr/bin/apt-get', '/usr/bin/bwrap'], true)).toEqual({
    kind: 'install',
    packages: ['python3'],
  });
  expect(plan(['/usr/bin/apt-get'], true)).toEqual({ kind: 'install', packages: ['bubblewrap', 'python3'] });
});

test('programs that sandboxes do not see are ignored', () => {
  expect(plan(['/usr/bin/apt-get', '/opt/bin/bwrap', '/opt/bin/python3'], true)).toEqual({
    kind: 'install',
    packages: ['bubblewrap', 'python3'],
  });
});

test.each([
  ['not root', ['/usr/bin/apt-get', '/usr/bin/python3'], false],
  ['no apt-get', ['/usr/bin/python3'], true],
] as const)('%s: one line explains the installation', (_title, programs, isRoot) => {
  expect(plan(programs, isRoot)).toEqual({
    kind: 'advise',
    line: 'Sandboxes need bubblewrap: run "sudo apt-get install bubblewrap", or use your system\'s package manager',
  });
});
