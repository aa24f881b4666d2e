/**
 * Drafts: the text of each message box until it is sent, by session. They survive navigation and a reload of the tab. A sign-out
 * ends them, and so does the sign-in of another person. Beyond the limits the oldest are dropped.
 */
import { computed, shallowRef, type WritableComputedRef, watch } from 'vue';
import { textEnds } from '../access/access.ts';
import { type Drafts, rememberDrafts, rememberedDrafts } from '../access/remembered.ts';

/** The message box of a session that is not made yet. */
export const newSession = '';

const draftsMax = 50;
/** Of all drafts together. The newest is kept whatever its length. */
const charactersMax = 1_500_000;

const drafts = shallowRef<Drafts>(rememberedDrafts());

export const draftOf = (session: string): string => drafts.value.get(session) ?? '';

export const setDraft = (session: string, text: string): void => {
  const next = new Map(drafts.value);
  next.delete(session);
  if (text !== '') next.set(session, text);
  drafts.value = withinLimits(next);
  rememberDrafts(drafts.value);
};

/** Before what was written since. */
export const restoreDraft = (session: string, text: string): void => {
  const since = draftOf(session);
  setDraft(session, since === '' ? text : `${text}\n${since}`);
};

/** Text for the message box of a session, which may change. */
export const useDraft = (session: () => string): WritableComputedRef<string> =>
  computed({ get: () => draftOf(session()), set: (text) => setDraft(session(), text) });

const withinLimits = (all: Drafts): Drafts => {
  let characters = 0;
  const kept = [...all]
    .toReversed()
    .slice(0, draftsMax)
    .filter(([, text], index) => {
      characters += text.length;
      return index === 0 || characters <= charactersMax;
    });
  return new Map(kept.toReversed());
};

watch(
  textEnds,
  () => {
    drafts.value = new Map();
  },
  { flush: 'sync' },
);
