/**
 * The platform of a soak, in its own process that may be killed: the embedded cloud with its sandboxes on one data folder.
 *
 * It reports its endpoints over the channel of its parent, and kills its functions when the parent asks for it. Everything else
 * reaches it as it reaches `npm start`.
 */
import { join } from 'node:path';
import { readVariables } from '#shared/config/read-variables.ts';
import { localSettings } from '#shared/config/settings.ts';
import { startCloud } from '../../local/cloud.ts';
import { start as startEcs } from '../../local/ecs/start.ts';
import { loadSecret, makeHome, openFunctionLog } from '../../local/home.ts';
import { lockDataFolder } from '../../local/process/folder-lock.ts';
import type { FromPlatform, ToPlatform } from './platform.ts';

const tell = (message: FromPlatform): void => void process.send?.(message);

const main = async (variables: Readonly<Record<string, string | undefined>>): Promise<void> => {
  const settings = readVariables(localSettings, variables);
  if (!settings.ok) throw new Error(settings.problems.join('; '));
  const { PORT: port, SALLYPORT_HOME: home = '', MSB_SHARED_VOLUME_PATH: shared = '' } = settings.value;
  await makeHome(home);
  await using stopping = new AsyncDisposableStack();
  stopping.defer((await lockDataFolder(home, { progress: () => undefined })).release);
  const log = openFunctionLog(join(home, 'logs', 'functions.log'));
  stopping.defer(log.close);
  const token = await loadSecret(home, 'token', 'sp_');
  const cloud = await startCloud({
    ...{ home, port, token, variables },
    sandboxSecret: await loadSecret(home, 'sandbox-secret'),
    log: log.write,
    sweepMs: settings.value.SALLYPORT_SWEEP_SECONDS * 1000,
    startSandboxHost: (options) =>
      startEcs({ ...options, sharedVolume: { hostPath: shared, guestPath: '/shared' } }),
  });
  stopping.defer(cloud.stop);
  process.on('message', async (message: ToPlatform) => {
    if (message !== 'kill functions') return;
    await cloud.killFunctions();
    tell({ type: 'functions killed' });
  });
  const { url, endpoints, credentials } = cloud;
  tell({ type: 'ready', url, token, endpoints, credentials });
  await new Promise((resolve) => process.once('SIGTERM', resolve));
};

// biome-ignore lint/style/noProcessEnv: the one read of this program's environment.
await main(process.env);
process.exit(0);
