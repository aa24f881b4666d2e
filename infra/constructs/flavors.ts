/**
 * The sizes of sandboxes as a policy knows them: each has its own number of CPU units.
 *
 * Infra knows no more of them than the limit it sets; what they are is decided in `shared/domain/flavor.ts`, and a
 * test holds these numbers against those.
 */
export const cpuUnits = { micro: 512, small: 1024, medium: 2048, large: 4096 } as const;

export type Flavor = keyof typeof cpuUnits;

const flavorDefault = 'small';

/** A deployment whose sessions could never have a sandbox unless they ask for another size. */
export const refuseDefaultFlavor = (
  flavorsAllowed: readonly Flavor[] | undefined,
  chosen: string = flavorDefault,
): void => {
  if (flavorsAllowed === undefined || flavorsAllowed.some((name) => name === chosen.toLowerCase())) return;
  throw new Error(
    `infra/settings.ts: flavorsAllowed leaves out ${chosen}, which sessions have by default: allow it, or set MSB_DEFAULT_FLAVOR`,
  );
};
