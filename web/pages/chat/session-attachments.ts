/**
 * Files chosen for the next message of each session. Like its draft they survive navigation, and a sign-out ends them; unlike it
 * they do not survive a reload. Beyond the limit those of the session that was shown longest ago are dropped.
 */
import { watch } from 'vue';
import { textEnds } from '../../access/access.ts';
import { type Attachments, useAttachments } from './attachments.ts';

const sessionsMax = 10;

const bySession = new Map<string, Attachments>();

export const attachmentsOf = (sessionId: string): Attachments => {
  const own = bySession.get(sessionId) ?? useAttachments(() => sessionId);
  bySession.delete(sessionId);
  bySession.set(sessionId, own);
  for (const [id, { clear }] of [...bySession].slice(0, -sessionsMax)) {
    clear();
    bySession.delete(id);
  }
  return own;
};

watch(
  textEnds,
  () => {
    for (const { clear } of bySession.values()) clear();
    bySession.clear();
  },
  { flush: 'sync' },
);
