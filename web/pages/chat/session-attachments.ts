/**
 * Files chosen for the next message of each session. Like its draft they survive navigation, and a sign-out ends them; of a
 * reload their names alone. Beyond the limit those of the session that was shown longest ago are dropped, but for their names.
 */
import { watch } from 'vue';
import { textEnds } from '../../access/access.ts';
import { type KeptAttachments, useKeptAttachments } from './attachments.ts';

const sessionsMax = 10;

const bySession = new Map<string, KeptAttachments>();

export const attachmentsOf = (sessionId: string): KeptAttachments => {
  const own = bySession.get(sessionId) ?? useKeptAttachments(sessionId, () => sessionId);
  bySession.delete(sessionId);
  bySession.set(sessionId, own);
  for (const [id, { lose }] of [...bySession].slice(0, -sessionsMax)) {
    lose(true);
    bySession.delete(id);
  }
  return own;
};

watch(
  textEnds,
  () => {
    for (const { lose } of bySession.values()) lose(false);
    bySession.clear();
  },
  { flush: 'sync' },
);
