/** The features that a deployment uses: a turn does without them only while it is known that nobody uses them. */
import { expect, test } from 'vitest';
import { isUnused, seenMsMax } from './features.ts';

const none = { webhooks: false, mcpServers: false, approversUntil: 0, at: 1_000_000 };
const all = ['webhooks', 'mcpServers', 'approvers'] as const;
const unused = (seen: typeof none | undefined, now: number) =>
  all.filter((feature) => isUnused(seen, feature, now));

test('features that were not read, or not recently, may be in use', () => {
  expect(unused(undefined, none.at)).toEqual([]);
  expect(unused(none, none.at + seenMsMax)).toEqual(all);
  expect(unused(none, none.at + seenMsMax + 1)).toEqual([]);
});

test('each feature is separate', () => {
  expect(unused({ ...none, webhooks: true }, none.at)).toEqual(['mcpServers', 'approvers']);
  expect(unused({ ...none, mcpServers: true }, none.at)).toEqual(['webhooks', 'approvers']);
  expect(unused({ ...none, approversUntil: none.at }, none.at)).toEqual(['webhooks', 'mcpServers']);
  expect(unused({ ...none, approversUntil: none.at - 1 }, none.at)).toEqual(all);
});
