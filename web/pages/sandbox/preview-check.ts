/**
 * Check of a preview: whether a server of user code answers on its port.
 *
 * It asks as a browser does, by GET: the answer to HEAD has no body, and a refusal of the platform there looks like the page's
 * own. The policy of an answer tells them apart: that of a refusal allows nothing, and no page can set its own. Of the refusals
 * only one is about the server, and names its port; any other, and an answer that never came, is a failure of the check.
 */
import { refusalOf, unreachable } from '#sdk/errors.ts';
import { clientOf, inOurWords } from '../../api/request.ts';

/** A sandbox may have to start. */
const waitMsMax = 150_000;
const policyOfPage = /^sandbox allow-/;

/** The HTTP status of the page, 0 for a redirect; undefined where no server answers on the port. */
export const statusOfPage = (path: string): Promise<number | undefined> => statusOf(path).catch(inOurWords);

const statusOf = async (path: string): Promise<number | undefined> => {
  const { url } = clientOf();
  const fail = (cause: unknown): never => {
    throw unreachable(url, cause);
  };
  const answer = await touch(path).catch(fail);
  if (isOfPage(answer)) {
    await drop(answer);
    return answer.status;
  }
  // Its body may break off, or come too late.
  const refusal = await refusalOf(url, answer).catch(fail);
  if (refusal.code === 'sandbox_unavailable' && refusal.facts.port !== undefined) return undefined;
  throw refusal;
};

const isOfPage = ({ type, headers }: Response): boolean =>
  type === 'opaqueredirect' || policyOfPage.test(headers.get('content-security-policy') ?? '');

/** A page's own 401 says nothing about the credential. */
const touch = (path: string): Promise<Response> => {
  const { token, url } = clientOf();
  return fetch(`${url}${path}`, {
    headers: token === undefined ? {} : { authorization: `Bearer ${token}` },
    redirect: 'manual',
    signal: AbortSignal.timeout(waitMsMax),
  });
};

/** The body of a page may be endless. */
const drop = async ({ body }: Response): Promise<void> => body?.cancel();
