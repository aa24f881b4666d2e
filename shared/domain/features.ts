/**
 * The features that a deployment has taken into use. A turn asks the table for nothing that its deployment does not use.
 *
 * They are read with the session by the function that takes a message or a decision, and travel with the
 * invocation that follows. After `seenMsMax` nothing is known any more, and the table is asked (docs/adr/0019-unused-features-cost-no-calls.md).
 */

/** As the table holds them. */
export type UsedFeatures = {
  /** A webhook was made, ever. */
  readonly webhooks: boolean;
  /** A project registered an MCP server, ever. */
  readonly mcpServers: boolean;
  /** No socket that is told how many calls wait is open after this, in epoch milliseconds; 0 when there was none yet. */
  readonly approversUntil: number;
};

/** As they were read: `at` is no later than the read, in epoch milliseconds. */
export type FeaturesSeen = UsedFeatures & { readonly at: number };

/** The time for which a sighting holds, in milliseconds. */
export const seenMsMax = 5000;

/** False as well where nothing is known. */
export const isUnused = (
  seen: FeaturesSeen | undefined,
  feature: 'webhooks' | 'mcpServers' | 'approvers',
  now: number,
): boolean => {
  if (seen === undefined || now - seen.at > seenMsMax) return false;
  return feature === 'approvers' ? seen.approversUntil < seen.at : !seen[feature];
};
