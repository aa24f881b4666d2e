/**
 * Redirects by which a page of one preview would use the person's cookie for another preview.
 *
 * The policy names the page's own path, but no browser compares a path after a redirect (CSP Level 3, section 7.6). User code
 * that redirects to another preview of this origin would make the browser repeat the request there, with that preview's cookie,
 * and could read the answer. A navigation that only reads is allowed: the page could have gone there by itself, and does not
 * see the loaded page.
 */
import { originOf } from '#shared/contracts/browser-request.ts';
import { bearerToken, header } from '#shared/contracts/credentials.ts';
import { readPreviewPath } from '#shared/contracts/preview-path.ts';
import { AppError } from '#shared/errors.ts';
import type { ApiEvent } from './api-route.ts';

const redirects = new Set([301, 302, 303, 307, 308]);
const keepMethod = new Set([307, 308]);

export const refuseAstray = async (response: Response, event: ApiEvent): Promise<void> => {
  if (!redirects.has(response.status) || !leavesPreview(response, event) || mayLeave(response, event)) return;
  await response.body?.cancel();
  throw new AppError('forbidden', 'the server redirects a request of its page out of its own preview', {
    suggestions: ['Redirect to a path below that of the preview, or let the person follow a link.'],
  });
};

/** To another place of our own origin: the policy stops every other origin. */
const leavesPreview = ({ headers }: Response, event: ApiEvent): boolean => {
  const origin = originOf(event);
  const location = headers.get('location');
  const own = rootOf(event.path);
  if (origin === undefined || location === null || !URL.canParse(location, `${origin}${event.path}`))
    return false;
  const url = new URL(location, `${origin}${event.path}`);
  return url.origin === new URL(origin).origin && rootOf(url.pathname) !== own;
};

/** A client with a bearer has no cookie of ours. */
const mayLeave = ({ status }: Response, { headers, httpMethod }: ApiEvent): boolean => {
  if (bearerToken(headers) !== undefined) return true;
  if (header(headers, 'sec-fetch-mode') !== 'navigate') return false;
  return httpMethod === 'GET' || httpMethod === 'HEAD' || !keepMethod.has(status);
};

const rootOf = (path: string): string | undefined => readPreviewPath(path)?.root.toLowerCase();
