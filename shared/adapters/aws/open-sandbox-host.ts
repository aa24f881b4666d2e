/** `SandboxHost` whose client of ECS is loaded when a sandbox is first started, stopped or looked for. */
import type { SandboxHost } from '#shared/ports/sandbox.ts';
import { loadOnce } from '../load-once.ts';
import { attemptsMax } from './clients.ts';
import type { EcsPlacement } from './ecs-sandbox-host.ts';

export const openSandboxHost = (placement: EcsPlacement): SandboxHost => {
  const load = loadOnce(async () => {
    const [{ ECSClient }, { makeSandboxHost }] = await Promise.all([
      import('@aws-sdk/client-ecs'),
      import('./ecs-sandbox-host.ts'),
    ]);
    return makeSandboxHost(new ECSClient({ maxAttempts: attemptsMax }), placement);
  });
  return {
    start: async (task) => (await load()).start(task),
    stop: async (taskArn, reason) => (await load()).stop(taskArn, reason),
    running: async function* () {
      yield* (await load()).running();
    },
    describe: async (taskArns) => (await load()).describe(taskArns),
  };
};
