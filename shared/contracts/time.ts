/** A moment as it stands on every wire: ISO 8601, UTC. */
export const iso = (epochMs: number): string => new Date(epochMs).toISOString();
