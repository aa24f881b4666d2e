/**
 * A fence around restores: each carries the number of its claim, and only a higher number than all before is begun. It
 * ends an older one that still runs or waits, so that none reaches a sandbox that was made ready after a later one.
 */
import * as z from 'zod';
import type { VolumeName } from '../wire/transfer-messages.ts';
import { Refusal } from './refusal.ts';

export type RestoreFence = {
  /** Throws for a number that is not the highest; the signal is aborted by the next higher one. */
  readonly begin: (volume: VolumeName, claim: number) => AbortSignal;
};

const passed = (): Refusal => new Refusal('conflict', 'a later restore has begun');

export const createRestoreFence = (): RestoreFence => {
  const begun = new Map<VolumeName, { readonly claim: number; readonly over: AbortController }>();
  return {
    begin(volume, claim) {
      const before = begun.get(volume);
      if (before !== undefined && claim <= before.claim) throw passed();
      const over = new AbortController();
      begun.set(volume, { claim, over });
      before?.over.abort(passed());
      return over.signal;
    },
  };
};

const claimNumber = z.coerce.number().int().min(1);

export const readRestoreClaim = (parameters: URLSearchParams): number => {
  const claim = claimNumber.safeParse(parameters.get('claim') ?? undefined);
  if (!claim.success) throw new Refusal('invalid_request', 'claim is the number of a claim, from 1');
  return claim.data;
};
