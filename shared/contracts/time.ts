/** A point in time as every wire carries it: ISO 8601, UTC. */
export const iso = (epochMs: number): string => new Date(epochMs).toISOString();
