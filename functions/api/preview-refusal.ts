/**
 * A refusal of the platform at the path of a preview. A browser that opens the address in a tab gets it as a page with the sentences of
 * the error and a link that loads the preview again; any other client gets the error body of the contract.
 *
 * The page loads nothing and runs nothing; its one style is named by its hash. While the sandbox starts, or if only the server of user code
 * is missing, the browser loads it again by itself: forty times, counted in a cookie of the preview's path, since each request keeps the
 * sandbox. The link has no ticket: a ticket is for one use.
 */
import { createHash } from 'node:crypto';
import type { StreamedResult } from '#shared/adapters/lambda/lambda-runtime.ts';
import { cookieNamed } from '#shared/contracts/browser-request.ts';
import { type PreviewPath, readPreviewPath } from '#shared/contracts/preview-path.ts';
import { canonicalUuid, isUuid } from '#shared/domain/ids.ts';
import type { errorBody } from '#shared/errors.ts';
import type { ApiEvent } from './api-route.ts';
import { asSent, opensPage, withoutTicket } from './preview-address.ts';
import { cookieAttributes, fence } from './preview-headers.ts';

type Refusal = ReturnType<typeof errorBody>['error'] & { readonly port?: number };

export const refusedPreview = (event: ApiEvent, answer: StreamedResult, refusal: Refusal): StreamedResult => {
  const fenced = { ...answer.headers, ...fence };
  if (!opensPage(event)) return { ...answer, headers: fenced };
  const counted = nextTry(event, refusal);
  return {
    ...answer,
    headers: {
      ...fenced,
      'content-type': 'text/html; charset=utf-8',
      'content-security-policy': policyOf(counted !== undefined),
      ...(counted === undefined ? {} : { 'set-cookie': counted }),
    },
    body: pageOf(event, refusal, counted !== undefined),
  };
};

const triesCookie = 'sallyport-preview-tries';
const triesMax = 40;
const tryEverySeconds = 3;
/** A person who reloads later begins anew. */
const triesSeconds = 30;

/** The cookie that counts this try; undefined where the person reloads. */
const nextTry = (event: ApiEvent, { code, port }: Refusal): string | undefined => {
  const { root = '', sessionId = '' }: Partial<PreviewPath> = readPreviewPath(event.path) ?? {};
  const isAwaited = code === 'sandbox_starting' || (code === 'sandbox_unavailable' && port !== undefined);
  const tries = Number(cookieNamed(event.headers, triesCookie) ?? 0);
  // The path becomes that of the cookie: nothing in it may end an attribute.
  return isAwaited && event.httpMethod === 'GET' && tries < triesMax && isUuid(canonicalUuid(sessionId))
    ? `${triesCookie}=${tries + 1}; ${cookieAttributes(event, `${root}/`, triesSeconds)}`
    : undefined;
};

/** A browser loads a page again by itself only where the policy allows scripts. There is no source of any. */
const policyOf = (isTrying: boolean): string =>
  [
    fence['content-security-policy'].replace('sandbox;', isTrying ? 'sandbox allow-scripts;' : 'sandbox;'),
    `style-src '${styleHash}'`,
    "base-uri 'none'",
    "form-action 'none'",
  ].join('; ');

const style =
  ':root{color-scheme:light dark;font:1rem/1.5 system-ui,sans-serif}body{max-width:40rem;margin:4rem auto;padding:0 1rem;overflow-wrap:anywhere}p::first-letter{text-transform:uppercase}';
const styleHash = `sha256-${createHash('sha256').update(style).digest('base64')}`;

/** The advice for programs is a header, which no person can send by a browser's tab. */
const openAgain = 'Open it again in the app: in its session, the tab Preview.';

const startIt = 'Start a server on this port in the sandbox: by a command in the chat, or ask the agent.';

const pageOf = (event: ApiEvent, refusal: Refusal, isTrying: boolean): string => {
  const { code, message, suggestions, requestId } = refusal;
  const [what, advice] = isTrying
    ? ['Waiting for the server', [startIt]]
    : ['The preview cannot be shown', code === 'unauthenticated' ? [openAgain] : suggestions];
  return [
    '<!doctype html>',
    '<html lang="en">',
    '<meta charset="utf-8">',
    '<meta name="viewport" content="width=device-width">',
    '<title>Preview · Sallyport</title>',
    ...(isTrying ? [`<meta http-equiv="refresh" content="${tryEverySeconds}">`] : []),
    `<style>${style}</style>`,
    `<h1>${what}</h1>`,
    `<p>${escaped(message)}</p>`,
    `<ul>${advice.map((text) => `<li>${escaped(text)}</li>`).join('')}</ul>`,
    ...(isTrying ? ['<p>This page loads again by itself for a while, until it listens.</p>'] : []),
    ...linkOf(event),
    `<small><code>${escaped(code)}</code> · request <code>${escaped(requestId)}</code></small>`,
    '',
  ].join('\n');
};

/** A link would lose the fields of a form: there the browser's own reload sends them again. */
const linkOf = (event: ApiEvent): readonly string[] =>
  event.httpMethod === 'GET'
    ? [`<p><a href="${escaped(asSent(event.path) + withoutTicket(event))}">Reload</a></p>`]
    : [];

const escaped = (text: string): string =>
  text.replace(/[&<>"']/g, (character) => `&#${character.charCodeAt(0)};`);
