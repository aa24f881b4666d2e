/** Advice for an operator whose machine refuses bubblewrap: bubblewrap's own message, and the command that allows it. */
import { existsSync, readFileSync } from 'node:fs';

type Machine = {
  readonly hasBubblewrap: boolean;
  /** Undefined for a setting that this kernel lacks. */
  readonly kernelSetting: (name: string) => string | undefined;
};

/** The settings by which distributions keep ordinary users from user namespaces, with the values that allow them. */
const settings = [
  { name: 'kernel.apparmor_restrict_unprivileged_userns', forbids: '1', allows: '0' },
  { name: 'kernel.unprivileged_userns_clone', forbids: '0', allows: '1' },
  { name: 'user.max_user_namespaces', forbids: '0', allows: '15000' },
] as const;

/** `output`: what bubblewrap wrote. */
export const explainBubblewrap = (output: string, machine: Machine = thisMachine()): string => {
  if (!machine.hasBubblewrap)
    return 'bubblewrap is missing: run "sudo apt-get install bubblewrap", or use your system\'s package manager';
  return `bubblewrap failed with "${output.trim().split('\n').at(-1)}": ${adviceFor(output, machine)}`;
};

const adviceFor = (output: string, { kernelSetting }: Machine): string => {
  if (/unknown option/i.test(output)) return 'install version 0.8 or later';
  const setting = settings.find(({ name, forbids }) => kernelSetting(name) === forbids);
  if (setting === undefined) return 'correct that';
  const line = `${setting.name}=${setting.allows}`;
  return `allow user namespaces by "sudo sysctl -w ${line}" (a file in /etc/sysctl.d keeps it)`;
};

const thisMachine = (): Machine => ({
  hasBubblewrap: existsSync('/usr/bin/bwrap'),
  kernelSetting: (name) => {
    try {
      return readFileSync(`/proc/sys/${name.replaceAll('.', '/')}`, 'utf8').trim();
    } catch {
      return undefined;
    }
  },
});
