/** The line for an operator whose machine refuses bubblewrap. */
import { expect, test } from 'vitest';
import { explainBubblewrap } from './bubblewrap-advice.ts';

const explain = (output: string, settings: Readonly<Record<string, string>> = {}, hasBubblewrap = true) =>
  explainBubblewrap(output, { hasBubblewrap, kernelSetting: (name) => settings[name] });
const refused = 'bwrap: setting up uid map: Permission denied';

test('a machine without it is told how to install it, and none that has it', () => {
  expect(explain('', {}, false)).toContain('run "sudo apt-get install bubblewrap"');
  expect(explain(refused)).toBe(`bubblewrap failed with "${refused}": correct that`);
});

test.each([
  ['kernel.apparmor_restrict_unprivileged_userns', '1', '0'],
  ['kernel.unprivileged_userns_clone', '0', '1'],
  ['user.max_user_namespaces', '0', '15000'],
])('%s=%s is named with the command that changes it', (name, forbids, allows) => {
  expect(explain(`more\n${refused}\n`, { [name]: forbids })).toBe(
    `bubblewrap failed with "${refused}": allow user namespaces by "sudo sysctl -w ${name}=${allows}" (a file in /etc/sysctl.d keeps it)`,
  );
  expect(explain(refused, { [name]: allows })).not.toContain('sysctl');
});

test('one that is too old is named', () => {
  expect(explain('bwrap: Unknown option --size')).toMatch(/: install version 0\.8 or later$/);
});
