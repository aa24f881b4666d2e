/**
 * `WebhookPost` by one request to addresses that were checked: no redirect is followed, the answer is read up to a
 * bound and dropped, and each attempt has a connection of its own that ends with it.
 */
import type { IncomingMessage } from 'node:http';
import { answerBytesMax, attemptMsMax } from '#shared/domain/webhook/limits.ts';
import type { SignedRequest, WebhookPost } from '#shared/ports/webhooks.ts';
import { checkAddress, type EgressSettings, parseUrl } from '../outbound/checked-address.ts';
import { within } from '../outbound/deadline.ts';
import { makeAgents, sendPinned } from '../outbound/pinned-request.ts';
import { explainFailure } from '../outbound/unreachable.ts';
import { signatureHeaders } from './signature.ts';

export type PostSettings = Omit<EgressSettings, 'setting'> & {
  /** The longest time of one attempt, in milliseconds. */
  readonly attemptMs?: number;
};

/** The variable that allows private addresses. */
export const allowedHostsSetting = 'WEBHOOK_ALLOWED_PRIVATE_HOSTS';

export const makeWebhookPost = (settings: PostSettings): WebhookPost => ({
  send: async (request) => {
    const agents = makeAgents();
    const ending = new AbortController();
    const attempt = async (): Promise<number> => {
      const url = parseUrl(request.url);
      const addresses = await checkAddress(url, { ...settings, setting: allowedHostsSetting });
      ending.signal.throwIfAborted();
      const headers = headersOf(request);
      const { body } = request;
      const pinned = { url, addresses, method: 'POST', headers, body, signal: ending.signal };
      const answer = await sendPinned(pinned, agents);
      await drained(answer);
      return answer.statusCode ?? 0;
    };
    try {
      const status = await within({ ms: settings.attemptMs ?? attemptMsMax }, attempt());
      return { status, ...refusalOf(status) };
    } catch (error) {
      return { error: explainFailure(error, true).message };
    } finally {
      ending.abort();
      agents.http.destroy();
      agents.https.destroy();
    }
  },
});

const headersOf = (request: SignedRequest): Headers =>
  new Headers({
    'content-type': 'application/json',
    'user-agent': 'Sallyport-Webhooks/1',
    'accept-encoding': 'identity',
    ...signatureHeaders(request),
  });

const refusalOf = (status: number): { readonly error?: string } => {
  if (status >= 200 && status <= 299) return {};
  const isRedirect = status >= 300 && status <= 399;
  return { error: `it answered with HTTP ${status}${isRedirect ? ': redirects are not followed' : ''}` };
};

/** The status counts, whatever follows: an answer that goes on beyond the bound is cut off. */
const drained = async (answer: IncomingMessage): Promise<void> => {
  let bytes = 0;
  try {
    for await (const chunk of answer) {
      bytes += (chunk as Buffer).length;
      if (bytes > answerBytesMax) return;
    }
  } catch {
    // A receiver that breaks off after its status has answered.
  } finally {
    answer.destroy();
  }
};
