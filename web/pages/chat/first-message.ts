/**
 * First message of a new session, with the choices and the files of its page.
 *
 * It outlives the page: a person may leave while the session is made and the files are uploaded. The message is sent then without
 * a navigation. One that could not be sent is in the message box again, with its choices and files; a sign-out
 * forgets it, and so does the sign-in of another person.
 */
import { computed, ref, shallowRef, watch } from 'vue';
import { api } from '#sdk/routes.ts';
import { textEnds } from '../../access/access.ts';
import { useAct } from '../../api/load.ts';
import { request } from '../../api/request.ts';
import { notify } from '../../components/notices.vue';
import { askSession } from '../../session/ask-session.ts';
import { draftOf, newSession, restoreDraft, setDraft } from '../../session/drafts.ts';
import { useKeptAttachments } from './attachments.ts';
import {
  costProblem,
  givenOf,
  noChoices,
  parseNamedLines,
  sliceProblems,
  type WrittenChoices,
} from './session-choices.ts';

/** Navigates to the session that was made. */
type Opens = (sessionId: string) => Promise<unknown>;

/** Draft of the message while it is on its way. */
const underWay = 'first';
// After a reload in between.
if (draftOf(underWay) !== '') restoreDraft(newSession, draftOf(underWay));
setDraft(underWay, '');

const options = ref(noChoices());
const written = ref<WrittenChoices>({ labels: '', env: '' });
const labels = computed(() => parseNamedLines(written.value.labels, ':'));
const env = computed(() => parseNamedLines(written.value.env, '='));
const problems = computed(() => ({
  labels: labels.value.problem,
  env: env.value.problem,
  cost: costProblem(options.value.maxCostUsd),
  ...sliceProblems(options.value.slice),
}));

/** Files are uploaded to the session that the first message creates; it is kept when one of them fails, as long as its choices are the same. */
const made = shallowRef<{ readonly id: string; readonly choices: string } | null>(null);
const attachments = useKeptAttachments(newSession, () => made.value?.id ?? null);
/** Undefined while another page is shown. */
let open: Opens | undefined;

const sessionOf = async (): Promise<NonNullable<typeof made.value>> => {
  const body = { ...givenOf(options.value), labels: labels.value.values, env: env.value.values };
  const choices = JSON.stringify(body);
  if (made.value?.choices === choices) return made.value;
  abandon();
  return { id: (await request(api.makeSession, { body })).id, choices };
};

/** Ends the session that got no message; the files are for another one. */
const abandon = (): void => {
  if (made.value === null) return;
  const { id } = made.value;
  made.value = null;
  attachments.restart();
  // One that cannot be ended now is empty, and is deleted with time.
  request(api.endSession, { params: { id } }).catch(() => undefined);
};

const deliver = async (text: string, isForgotten: () => boolean): Promise<void> => {
  const { value: chosen } = attachments.rows;
  const session = await sessionOf();
  if (isForgotten()) return;
  made.value = session;
  const { id } = session;
  const paths = await attachments.sendAll();
  if (isForgotten()) return;
  // One that was removed since calls the message off.
  if (!paths || chosen.some(({ path }) => !paths.includes(path)))
    throw new Error('Not sent, since not every file was uploaded. Remove those that failed, or send again.');
  if (open === undefined) notify('Started a new session');
  else await open(id);
  if (isForgotten()) return;
  reset();
  const asking = askSession(id, text, paths);
  setDraft(underWay, '');
  await asking;
};

const sending = useAct(async (text: string) => {
  const before = textEnds.value;
  const isForgotten = (): boolean => textEnds.value !== before;
  await deliver(text, isForgotten).catch((error: unknown) => {
    if (!isForgotten()) throw error;
  });
});

/** Empties the message box at once for the next message. */
const send = async (text: string): Promise<void> => {
  if (sending.isBusy.value) return;
  const isWritten = draftOf(newSession) === text;
  if (isWritten) setDraft(newSession, '');
  setDraft(underWay, text);
  if (await sending.run(text)) return;
  setDraft(underWay, '');
  if (isWritten || open === undefined) restoreDraft(newSession, text);
  if (open !== undefined) return;
  const { value: error } = sending.error;
  notify(`Your first message was not sent: ${error instanceof Error ? error.message : String(error)}`, 'bad');
};

/** `isNamed`: the names of the files stay. */
const reset = (isNamed = false): void => {
  options.value = noChoices();
  written.value = { labels: '', env: '' };
  made.value = null;
  attachments.lose(isNamed);
  sending.error.value = undefined;
};

watch(textEnds, () => reset(), { flush: 'sync' });

export const firstMessage = {
  ...{ options, written, problems, attachments, send },
  isSending: sending.isBusy,
  error: sending.error,
  hasChoices: (): boolean =>
    Object.keys(givenOf(options.value)).length > 0 || Object.values(written.value).join('') !== '',
  /** The page is shown. */
  enter: (opens: Opens): void => {
    open = opens;
  },
  /** The person goes elsewhere. */
  leave: (): void => {
    open = undefined;
  },
  /** The page is removed: choices and files go with it, unless the message still needs them. */
  drop: (): void => {
    if (sending.isBusy.value) return;
    abandon();
    reset(draftOf(newSession) !== '');
  },
} as const;
