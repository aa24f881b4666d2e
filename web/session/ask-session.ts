/**
 * Message to a session that need not be the open one: over its connection, else by a request.
 *
 * One that the server may not have is kept with the unsent messages of its session, and is sent under the same id when that is
 * opened.
 */
import { api } from '#sdk/routes.ts';
import { rememberedUnsent, rememberUnsent } from '../access/remembered.ts';
import { request } from '../api/request.ts';
import { notify } from '../components/notices.vue';
import { ask, openSessionId } from './live-session.ts';

export const askSession = async (
  sessionId: string,
  text: string,
  paths: readonly string[],
): Promise<void> => {
  if (openSessionId.value === sessionId) return ask(text, paths);
  const messageId = crypto.randomUUID();
  const attached = paths.length === 0 ? {} : { attachments: paths.map((path) => ({ path })) };
  rememberUnsent(sessionId, [...rememberedUnsent(sessionId), { id: messageId, text, ...attached }]);
  try {
    await request(api.sendMessage, { params: { id: sessionId }, body: { text, messageId, ...attached } });
  } catch (error) {
    const reason = error instanceof Error ? error.message : String(error);
    return notify(`Your message was not sent: ${reason} It is sent when you open the session.`, 'bad');
  }
  const others = rememberedUnsent(sessionId).filter(({ id }) => id !== messageId);
  rememberUnsent(sessionId, others);
};
