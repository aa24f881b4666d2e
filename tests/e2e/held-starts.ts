/**
 * Starts of sandboxes that a test holds and lets go, so that what comes before a start and what after is seen by the order and
 * not by the clock.
 */
import { writePrograms } from '../../local/ecs/bubblewrap.ts';
import { startSandbox } from '../../local/ecs/bubblewrap-host.ts';
import type { Faults } from '../../local/ecs/faults.ts';
import { type Isolation, start as startEcs } from '../../local/ecs/start.ts';
import type { EmbeddedOptions } from './embedded-cloud.ts';

type HeldStarts = {
  readonly startSandboxHost: NonNullable<EmbeddedOptions['startSandboxHost']>;
  readonly hold: () => void;
  readonly release: () => void;
  /** Of starts that wait now. */
  readonly count: () => number;
};

export const openHeldStarts = (faults: Faults): HeldStarts => {
  let gate: PromiseWithResolvers<void> | undefined;
  let held = 0;
  let written: Promise<unknown> | undefined;
  const isolation: Isolation = {
    name: 'bubblewrap',
    start: async (settings, request) => {
      written ??= writePrograms(settings.programs);
      await written;
      held += 1;
      await gate?.promise;
      held -= 1;
      return startSandbox(settings, request);
    },
  };
  return {
    startSandboxHost: (options) => startEcs({ ...options, faults, isolation }),
    hold: () => {
      gate = Promise.withResolvers();
    },
    release: () => {
      gate?.resolve();
      gate = undefined;
    },
    count: () => held,
  };
};
