/** Sessions with pending calls, created over REST, and the text that a page shows of such a call. */
import { createHash } from 'node:crypto';
import type { Page } from 'playwright-core';
import type { CallId, TurnId } from '#shared/domain/ids.ts';
import type { JsonObject } from '#shared/domain/json.ts';
import { digestText } from '#shared/domain/turn/waiting-call.ts';
import { makeSession } from '../e2e/agent.ts';
import { type EmbeddedCloud, eventually } from '../e2e/embedded-cloud.ts';

export type Waiting = {
  readonly sessionId: string;
  readonly turnId: string;
  readonly callId: string;
  readonly name: string;
  readonly args: JsonObject;
  readonly digest: string;
};

type Shown = { readonly status: string; readonly pendingApprovals: readonly Omit<Waiting, 'sessionId'>[] };

export const post = (body: object): RequestInit => ({ method: 'POST', body: JSON.stringify(body) });

const askMsMax = 120_000;

export const pendingOf = async (cloud: EmbeddedCloud, id: string): Promise<Shown['pendingApprovals']> =>
  (await cloud.ask<Shown>(`/api/sessions/${id}`)).pendingApprovals;

/** The pending call of a session, a new one unless named. */
export const untilItAsks = async (cloud: EmbeddedCloud, text: string, session?: string): Promise<Waiting> => {
  const id = session ?? (await makeSession(cloud, {})).id;
  await cloud.ask(`/api/sessions/${id}/messages`, post({ text }));
  const [call] = await eventually(
    () => pendingOf(cloud, id),
    (calls) => calls.length > 0,
    askMsMax,
  );
  if (call === undefined) throw new Error('nothing waits');
  return { ...(await cloud.ask<Waiting>(`/api/sessions/${id}/approvals/${call.callId}`)), sessionId: id };
};

/** By the demo provider, which calls any tool with any arguments; its line is plain text, whatever is in them. */
export const asking = (name: string, args: JsonObject): string =>
  `call ${name} ${JSON.stringify(args).replaceAll(/[^ -~]/g, (unit) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, '0')}`)}`;

export const endAll = async (cloud: EmbeddedCloud): Promise<void> => {
  const { sessions } = await cloud.ask<{ readonly sessions: readonly { readonly id: string }[] }>(
    '/api/sessions?status=active',
  );
  await Promise.all(sessions.map(({ id }) => cloud.ask(`/api/sessions/${id}`, { method: 'DELETE' })));
};

/** Made here from nothing but the call. */
export const digestOf = ({ turnId, callId, name, args }: Waiting): string =>
  createHash('sha256')
    .update(digestText({ turnId: turnId as TurnId, callId: callId as CallId, name, args }))
    .digest('hex');

export const openSession = (page: Page, { url }: Pick<EmbeddedCloud, 'url'>, id: string): Promise<unknown> =>
  page.goto(`${url}/#/chat/${id}`);

export const promptOf = (page: Page) => page.getByLabel('Waiting for your approval');
export const approveButton = (page: Page) => page.getByRole('button', { name: 'Approve', exact: true });
export const rejectButton = (page: Page) => page.getByRole('button', { name: 'Reject', exact: true });

/** The text of the call as it is in the page, its marks told back to the characters that they stand for. */
export const shownText = async (page: Page): Promise<string> => {
  const box = promptOf(page).locator('.box');
  await box.locator('.call-view[data-written]').waitFor();
  return box.locator('.whole-text').evaluate((pre) => {
    const walker = document.createTreeWalker(pre, NodeFilter.SHOW_TEXT);
    const texts: string[] = [];
    for (let node = walker.nextNode(); node !== null; node = walker.nextNode()) {
      const isMark = node.parentElement?.tagName === 'MARK';
      const text = node.nodeValue ?? '';
      const [, number = ''] = /^⟦U\+([0-9A-F]+)⟧$/.exec(text) ?? [];
      texts.push(isMark ? String.fromCodePoint(Number.parseInt(number, 16)) : text);
    }
    return texts.join('');
  });
};

/** As it is drawn: what a person sees of it, blanks and all. */
export const drawnMarks = (page: Page): Promise<readonly string[]> =>
  promptOf(page).locator('.box .whole-text mark').allTextContents();

export const shownDigest = async (page: Page): Promise<string> => {
  const title = await promptOf(page).locator('.digest').getAttribute('title');
  return /[0-9a-f]{64}/.exec(title ?? '')?.[0] ?? '';
};

type Decided = {
  readonly type: string;
  readonly data: { readonly callId: string; readonly digest: string } & JsonObject;
};

export const decidedEvents = async (
  cloud: EmbeddedCloud,
  id: string,
): Promise<readonly Decided['data'][]> => {
  const { events } = await cloud.ask<{ readonly events: readonly Decided[] }>(`/api/sessions/${id}/events`);
  return events.filter(({ type }) => type === 'tool:decided').map(({ data }) => data);
};

/** A generator of a seed: a failure can be had again. (https://prng.di.unimi.it: mulberry32 is enough for keys.) */
export const seeded = (seed: number): (() => number) => {
  let state = seed;
  return () => {
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 4_294_967_296;
  };
};
