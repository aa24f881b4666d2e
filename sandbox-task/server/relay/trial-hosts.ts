/** Targets that programs of a trial want to reach: noted for the person who decides, and refused like everything else outside. */
import type { RelayReset, RelayTarget } from '#shared/contracts/relay/frame.ts';
import { wantedModels, wantedPlatform } from '#shared/domain/wanted-host.ts';

export type TrialHosts = {
  /** From now on nothing outside is reached: the sandbox tries a call. */
  readonly setTrial: () => void;
  /** Models and the platform first; then each `host:port`, in the order in which they were first wanted. */
  readonly wantedHosts: () => readonly string[];
  /** The refusal of a target in a trial, whose host is noted; undefined where no call is tried. */
  readonly refusal: (target: RelayTarget) => RelayReset | undefined;
};

/** A person reads them. */
const wantedHostsMax = 50;
const inTrial: Readonly<Record<RelayTarget['type'], string>> = {
  egress: 'no host is reached, and this one is recorded',
  model: 'no model is called, and this is recorded',
  platform: 'no tool of the platform is called, and this is recorded',
};
const refused = ({ type }: RelayTarget): RelayReset => ({
  status: 403,
  message: `this is a trial of the call: ${inTrial[type]}`,
});

export const createTrialHosts = (): TrialHosts => {
  let isTrial = false;
  const services = new Set<string>();
  const wanted = new Set<string>();
  const note = (target: RelayTarget): void => {
    if (target.type === 'model') services.add(wantedModels);
    else if (target.type === 'platform') services.add(wantedPlatform);
    else if (wanted.size < wantedHostsMax) wanted.add(`${target.host}:${target.port}`);
  };
  return {
    setTrial: () => {
      isTrial = true;
    },
    wantedHosts: () => [...services, ...wanted],
    refusal(target) {
      if (!isTrial) return undefined;
      note(target);
      return refused(target);
    },
  };
};
