/**
 * The conditional changes around the last save of a sandbox that stops: one caller makes it at a time, and its end is recorded
 * before ECS is asked for the stop.
 */
import { type Change, isGeneration } from './workspace-changes.ts';

const isStopping = `${isGeneration} AND #sandbox.#state = :stopping`;
const stoppingValues = (generation: number) => ({ ':generation': generation, ':stopping': 'stopping' });

/** Refused once a last save has ended: ECS is asked for the stop. */
export const lastSaveClaimed = (
  generation: number,
  { at, until }: { readonly at: number; readonly until: number },
): Change => ({
  when: `${isStopping} AND attribute_not_exists(#sandbox.taskStopRequestedAt) AND (attribute_not_exists(#sandbox.savingUntil) OR #sandbox.savingUntil <= :at)`,
  set: 'SET #sandbox.savingUntil = :until',
  values: { ...stoppingValues(generation), ':at': at, ':until': until },
});

/** A claim that followed it, since it had run out, stays. */
export const lastSaveGivenBack = (generation: number, until: number): Change => ({
  when: `${isStopping} AND #sandbox.savingUntil = :until`,
  set: 'REMOVE #sandbox.savingUntil',
  values: { ...stoppingValues(generation), ':until': until },
});

export const stopAsked = (
  generation: number,
  { at, isUnsaved }: { readonly at: number; readonly isUnsaved?: true },
): Change => ({
  when: `${isStopping} AND attribute_not_exists(#sandbox.taskStopRequestedAt)`,
  set: `SET #sandbox.taskStopRequestedAt = :at${isUnsaved ? ', #sandbox.isUnsaved = :isUnsaved' : ''} REMOVE #sandbox.savingUntil`,
  values: { ...stoppingValues(generation), ':at': at, ...(isUnsaved ? { ':isUnsaved': true } : {}) },
});

/** As far as it runs, nothing was concluded. */
export const stopRefused = (generation: number, at: number): Change => ({
  when: `${isStopping} AND #sandbox.taskStopRequestedAt = :at`,
  set: 'REMOVE #sandbox.taskStopRequestedAt, #sandbox.isUnsaved',
  values: { ...stoppingValues(generation), ':at': at },
});
