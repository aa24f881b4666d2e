/** Containers of an engine that is played: its client, as a program. */
import { chmod, mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { delimiter, join } from 'node:path';
import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { chooseSandboxPort } from './address-proxy.ts';
import { startInContainer } from './container-host.ts';
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

test.each(['kill', 'terminate'] as const)('%s ends a container that has not begun yet', async (how) => {
  const settings = {
    ...{ name: 'test', folder, programs: folder, hierarchy: undefined, sharedVolume: undefined },
    ...{ identities: noIdentities, port: await chooseSandboxPort(), log: () => undefined },
  };
  const request = { id: 'one', template: 'python', cpus: 1, memoryMb: 512, variables: {}, unreachableMs: 0 };
  const sandbox = await startInContainer({ engine: 'docker', image: 'image' }, settings, request);
  if (how === 'kill') sandbox.kill();
  else sandbox.terminate(1000);
  expect(await sandbox.ended).toEqual({ exitCode: 137, isOutOfMemory: false });
  await sandbox.removed;
});
