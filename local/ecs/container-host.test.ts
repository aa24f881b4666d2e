/** Containers of an engine that is played: its client, as a program. */
import { chmod, mkdir, mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { delimiter, join } from 'node:path';
import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { chooseSandboxPort } from './address-proxy.ts';
import { findContainerEngine, startInContainer, sweepContainers } from './container-host.ts';
import { noIdentities } from './sandbox-identity.ts';

/** A container begins only after its end was asked for: both clients answer as those of Docker do. */
const engine = (folder: string) => `#!/bin/bash
case $1 in
run)
  while [ ! -e ${folder}/refused ]; do sleep 0.02; done
  touch ${folder}/running
  while [ -e ${folder}/running ]; do sleep 0.02; done
  exit 137
  ;;
ps)
  echo "$@" >> ${folder}/asked
  printf 'one\\ntwo\\n'
  ;;
info)
  cat ${folder}/options
  ;;
rm)
  echo "$@" >> ${folder}/asked
  ;;
kill | stop)
  if [ -e ${folder}/running ]; then rm ${folder}/running; else touch ${folder}/refused; exit 1; fi
  ;;
esac
`;

let folder: string;
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'sallyport-engine-'));
  await mkdir(join(folder, 'bin'));
  await writeFile(join(folder, 'bin', 'docker'), engine(folder));
  await chmod(join(folder, 'bin', 'docker'), 0o755);
  // biome-ignore lint/style/noProcessEnv: the engine is found as any program is
  vi.stubEnv('PATH', `${join(folder, 'bin')}${delimiter}${process.env['PATH']}`);
});
afterEach(async () => {
  vi.unstubAllEnvs();
  await rm(folder, { recursive: true, force: true });
});

const startOne = async () => {
  const settings = {
    ...{ name: 'test', folder, programs: folder, hierarchy: undefined, sharedVolume: undefined },
    ...{ identities: noIdentities, port: await chooseSandboxPort(), log: () => undefined },
  };
  const request = { id: 'one', template: 'python', cpus: 1, memoryMb: 512, variables: {}, unreachableMs: 0 };
  return startInContainer({ engine: 'docker', image: 'image' }, settings, request);
};

test.each(['kill', 'terminate'] as const)('%s ends a container that has not begun yet', async (how) => {
  const sandbox = await startOne();
  if (how === 'kill') sandbox.kill();
  else sandbox.terminate(1000);
  expect(await sandbox.ended).toEqual({ exitCode: 137, isOutOfMemory: false });
  await sandbox.removed;
});

test('a container whose engine is gone ends at once, and leaves nothing', async () => {
  await rm(join(folder, 'bin'), { recursive: true });
  vi.stubEnv('PATH', join(folder, 'bin'));
  const sandbox = await startOne();
  expect(await sandbox.ended).toEqual({ exitCode: 127, isOutOfMemory: false });
  await sandbox.removed;
  expect(await readdir(folder)).toEqual([]);
});

test('containers that a killed program left are removed, those of its data folder alone', async () => {
  await sweepContainers('docker', 'test');
  expect(await readFile(join(folder, 'asked'), 'utf8')).toBe(
    'ps --all --quiet --filter label=sallyport.run=test\nrm --force one two\n',
  );
});

const asRootDaemon = '["name=seccomp,profile=builtin","name=cgroupns"]';
const asUserDaemon = '["name=seccomp,profile=builtin","name=rootless"]';

test.each([
  ['root', asRootDaemon, 'docker'],
  ['a user', asUserDaemon, 'docker'],
  // The root of its containers could not write a folder of the user.
  ['a user', asRootDaemon, undefined],
] as const)('for %s an engine with the options %s is %s', async (who, options, found) => {
  await writeFile(join(folder, 'options'), options);
  await writeFile(join(folder, 'bin', 'podman'), '#!/bin/sh\nexit 1\n');
  await chmod(join(folder, 'bin', 'podman'), 0o755);
  expect(findContainerEngine(who === 'root')).toBe(found);
});
