/**
 * Conditions on the record of a session, with the names and the values that they need: that it exists and has not ended, and that an ended
 * one is not sealed, which is the first step of its deletion.
 */

export const lives = 'attribute_exists(pk) AND NOT #status IN (:completed, :failed, :stopped)';
export const isUnsealed = 'attribute_not_exists(isSealed)';
export const statusNames = { '#status': 'status' };
export const endedStatuses = { ':completed': 'completed', ':failed': 'failed', ':stopped': 'stopped' };
