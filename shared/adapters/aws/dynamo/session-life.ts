/** The condition that a session exists and has not ended, with the names and the values that it needs. */

export const lives = 'attribute_exists(pk) AND NOT #status IN (:completed, :failed, :stopped)';
export const statusNames = { '#status': 'status' };
export const endedStatuses = { ':completed': 'completed', ':failed': 'failed', ':stopped': 'stopped' };
