/**
 * The features that a deployment has used. A turn reads nothing from the table for features that its deployment
 * does not use.
 *
 * They are read with the session by the function that takes a message or a decision, and travel with the
 * invocation that follows. They expire after `seenMsMax`, and the table is read again
 * (docs/adr/0019-unused-features-cost-no-calls.md).
 */

/** The features as the table stores them. */
export type UsedFeatures = {
  /** A webhook was ever made. */
  readonly webhooks: boolean;
  /** A project ever registered an MCP server. */
  readonly mcpServers: boolean;
  /**
   * The time after which no open socket receives the number of waiting calls, in epoch milliseconds; 0 when there
   * was none yet.
   */
  readonly approversUntil: number;
};

/** The features as they were read: `at` is no later than the read, in epoch milliseconds. */
export type FeaturesSeen = UsedFeatures & { readonly at: number };

/** The time for which they hold, in milliseconds. */
export const seenMsMax = 5000;

/** False as well when nothing is known. */
export const isUnused = (
  seen: FeaturesSeen | undefined,
  feature: 'webhooks' | 'mcpServers' | 'approvers',
  now: number,
): boolean => {
  if (seen === undefined || now - seen.at > seenMsMax) return false;
  return feature === 'approvers' ? seen.approversUntil < seen.at : !seen[feature];
};
