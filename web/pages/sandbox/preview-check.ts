/**
 * Check of a preview: whether a server of user code answers on its port.
 *
 * It asks as a browser does, by GET: the answer to HEAD has no body, and a refusal of the platform there looks like the page's
 * own. The policy of an answer tells them apart: that of a refusal allows nothing, and no page can set its own.
 */
import { clientOf } from '../../api/request.ts';

/** A sandbox may have to start. */
const waitMsMax = 150_000;
const policyOfPage = /^sandbox allow-/;

/** The HTTP status of the page, 0 for a redirect; undefined where no server answers on the port. */
export const statusOfPage = async (path: string): Promise<number | undefined> => {
  const answer = await touch(path).catch(() => undefined);
  if (answer === undefined) return undefined;
  const isOfPage =
    answer.type === 'opaqueredirect' ||
    policyOfPage.test(answer.headers.get('content-security-policy') ?? '');
  return isOfPage ? answer.status : undefined;
};

/** Its body, which may be endless, is dropped. A page's own 401 says nothing about the credential. */
const touch = async (path: string): Promise<Response> => {
  const { token, url } = clientOf();
  const response = await fetch(`${url}${path}`, {
    headers: token === undefined ? {} : { authorization: `Bearer ${token}` },
    redirect: 'manual',
    signal: AbortSignal.timeout(waitMsMax),
  });
  await response.body?.cancel();
  return response;
};
