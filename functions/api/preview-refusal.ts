/**
 * A refusal of the platform at the path of a preview. A browser that opens the address in a tab gets it as a page with the sentences of
 * the error and a link that loads the preview again; any other client gets the error body of the contract.
 *
 * Only a browser says that it navigates (`Sec-Fetch-Mode`), and no page can say so for it. The page loads nothing and runs nothing; its one
 * style is named by its hash. The link has no ticket: a ticket is for one use.
 */
import { createHash } from 'node:crypto';
import type { StreamedResult } from '#shared/adapters/lambda/lambda-runtime.ts';
import { header } from '#shared/contracts/credentials.ts';
import type { errorBody } from '#shared/errors.ts';
import type { ApiEvent } from './api-route.ts';
import { asSent, withoutTicket } from './preview-address.ts';
import { fence } from './preview-headers.ts';

type Refusal = ReturnType<typeof errorBody>['error'];

export const refusedPreview = (event: ApiEvent, answer: StreamedResult, refusal: Refusal): StreamedResult => {
  const fenced = { ...answer.headers, ...fence };
  if (header(event.headers, 'sec-fetch-mode') !== 'navigate') return { ...answer, headers: fenced };
  return {
    ...answer,
    headers: {
      ...fenced,
      'content-type': 'text/html; charset=utf-8',
      'content-security-policy': `${fence['content-security-policy']}; style-src '${styleHash}'; base-uri 'none'; form-action 'none'`,
    },
    body: pageOf(event, refusal),
  };
};

const style =
  ':root{color-scheme:light dark;font:1rem/1.5 system-ui,sans-serif}body{max-width:40rem;margin:4rem auto;padding:0 1rem;overflow-wrap:anywhere}p::first-letter{text-transform:uppercase}';
const styleHash = `sha256-${createHash('sha256').update(style).digest('base64')}`;

/** The advice for programs is a header, which no person can send by a browser's tab. */
const openAgain = 'Open it again in the app: in its session, the tab Preview.';

const pageOf = (event: ApiEvent, { code, message, suggestions, requestId }: Refusal): string => {
  const advice = code === 'unauthenticated' ? [openAgain] : suggestions;
  return [
    '<!doctype html>',
    '<html lang="en">',
    '<meta charset="utf-8">',
    '<meta name="viewport" content="width=device-width">',
    '<title>Preview · Sallyport</title>',
    `<style>${style}</style>`,
    '<h1>The preview cannot be shown</h1>',
    `<p>${escaped(message)}</p>`,
    `<ul>${advice.map((text) => `<li>${escaped(text)}</li>`).join('')}</ul>`,
    ...linkOf(event),
    `<p><small><code>${escaped(code)}</code> · request <code>${escaped(requestId)}</code></small></p>`,
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
