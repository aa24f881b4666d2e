/**
 * Sign-in with an identity provider, in a browser: its cookie on one machine, the person's name, sign-out here and
 * everywhere, a token link beside it, and a page of another origin, which can write nothing and open no socket.
 */
import { once } from 'node:events';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { Page } from 'playwright-core';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { type RealIssuer, startRealIssuer } from '../../shared/adapters/oidc/fixtures/real-issuer.ts';
import { type EmbeddedCloud, openEmbeddedCloud } from '../e2e/embedded-cloud.ts';
import { axe, newPage, screenshot } from './browser.ts';

let issuer: RealIssuer;
let cloud: EmbeddedCloud;
let foreign: Server;
let foreignUrl: string;

beforeAll(async () => {
  issuer = await startRealIssuer();
  issuer.people['ada'] = { email: 'ada@example.com', sallyport_scope: 'admin' };
  cloud = await openEmbeddedCloud({
    variables: {
      OIDC_ISSUER: issuer.url,
      OIDC_AUDIENCE: 'sallyport',
      OIDC_CLIENT_ID: 'public',
      OIDC_LOGIN_SCOPES: 'openid email sallyport',
    },
  });
  issuer.allow(`${cloud.url}/api/auth/callback`);
  foreign = createServer((_, response) => {
    response.writeHead(200, { 'content-type': 'text/html' }).end('<title>foreign</title>');
  });
  foreign.listen(0, '127.0.0.1');
  await once(foreign, 'listening');
  foreignUrl = `http://127.0.0.1:${(foreign.address() as AddressInfo).port}`;
});
afterAll(async () => {
  foreign?.closeAllConnections();
  foreign?.close();
  await cloud?.stop();
  await issuer?.stop();
});

/** The provider's own forms, which this test does not judge. */
const expects =
  /a request to https?:|NAME_NOT_RESOLVED|status of 40[13]|WebSocket connection|CORS policy|ERR_FAILED|devicePixelRatio|autocomplete/;

const atProvider = async (page: Page, login: string): Promise<void> => {
  await page.getByRole('button', { name: 'Sign in with your identity provider' }).click();
  await page.locator('input[name="login"]').fill(login);
  await page.locator('input[name="password"]').fill('any');
  await page.getByRole('button', { name: 'Sign-in' }).click();
  await page.getByRole('button', { name: 'Continue' }).click();
};

const signedIn = async (): Promise<Page> => {
  const page = await newPage(cloud.url, { expects });
  await page.goto(`${cloud.url}/#/models`);
  await atProvider(page, 'ada');
  await page.getByRole('heading', { name: 'Models', level: 1 }).waitFor();
  return page;
};

test('a person signs in on 127.0.0.1, returns to the page, and a new tab is signed in', async () => {
  const page = await signedIn();
  await page.getByText('ada@example.com').waitFor();
  const cookies = await page.context().cookies(cloud.url);
  expect(cookies.find(({ name }) => name === '__Host-sallyport')).toMatchObject({
    httpOnly: true,
    secure: true,
    sameSite: 'Lax',
    path: '/',
  });
  expect(await page.evaluate(() => document.cookie)).toBe('');
  expect(
    await page.evaluate(() => JSON.stringify([{ ...sessionStorage }, { ...localStorage }])),
  ).not.toContain('sp_');
  expect(await axe(page)).toEqual([]);
  await screenshot(page, 'signed-in-person');
  const tab = await page.context().newPage();
  await tab.goto(`${cloud.url}/#/chat`);
  await tab.getByRole('textbox', { name: 'Message' }).fill('$ echo hello');
  await tab.keyboard.press('Enter');
  await tab.getByRole('button', { name: 'Approve', exact: true }).waitFor();
});

test('signing out ends this browser, and everywhere ends the others, which say why', async () => {
  const [here, there] = [await signedIn(), await signedIn()];
  await here.getByRole('button', { name: 'Sign out', exact: true }).click();
  await here.getByRole('button', { name: 'Sign in with your identity provider' }).waitFor();
  await here.reload();
  await here.getByRole('button', { name: 'Sign in with your identity provider' }).waitFor();
  expect(await axe(here)).toEqual([]);
  await screenshot(here, 'sign-in-with-provider');
  await there.reload();
  await there.getByText('ada@example.com').waitFor();
  await there.getByRole('link', { name: 'Chat' }).click();
  await there.getByRole('textbox', { name: 'Message' }).fill('half a thought');
  const third = await signedIn();
  await third.getByRole('button', { name: 'Sign out everywhere' }).click();
  await third.getByRole('alertdialog').getByRole('button', { name: 'Sign out everywhere' }).click();
  await third.getByRole('button', { name: 'Sign in with your identity provider' }).waitFor();
  // The page may hear of it before it is used again.
  const said = there.getByText('Your sign-in has ended.').waitFor();
  await Promise.race([said, there.getByRole('link', { name: 'Sessions' }).click()]);
  await said;
  await there.getByText('Your unsent text is kept in this tab.').waitFor();
});

test('a person without a scope is told so on the sign-in page', async () => {
  const page = await newPage(cloud.url, { expects });
  await page.goto(cloud.url);
  await atProvider(page, 'mallory');
  await page.getByText('Your account has no access here.').waitFor();
  expect(page.url()).not.toContain('sign-in');
});

test('a link with a token asks before it replaces a sign-in', async () => {
  const page = await signedIn();
  await page.goto('about:blank');
  await page.goto(`${cloud.url}/#token=${cloud.token}`);
  const dialog = page.getByRole('alertdialog', { name: 'Switch to another token?' });
  await dialog.getByText('Your sign-in').waitFor();
  await dialog.getByRole('button', { name: 'Keep' }).click();
  await page.getByText('ada@example.com').waitFor();
  expect(await page.evaluate(() => sessionStorage.getItem('sallyport.token'))).toBeNull();
});

test('AC10: a page of another origin writes nothing and opens no socket, another port of this machine included', async () => {
  const page = await signedIn();
  const sessions = async (): Promise<number> =>
    (await cloud.ask<{ sessions: readonly object[] }>('/api/sessions')).sessions.length;
  const before = await sessions();
  const evil = await page.context().newPage();
  await evil.goto(foreignUrl);
  const tried = await evil.evaluate(async (target) => {
    const outcome = async (init: RequestInit, path = '/api/sessions'): Promise<string> => {
      try {
        const response = await fetch(`${target}${path}`, { credentials: 'include', ...init });
        return `${response.type} ${response.status}`;
      } catch {
        return 'refused';
      }
    };
    const socket = await new Promise<string>((resolve) => {
      const opened = new WebSocket(`${target.replace('http', 'ws')}/ws`);
      opened.onopen = () => resolve('open');
      opened.onerror = () => resolve('refused');
    });
    return {
      read: await outcome({}),
      write: await outcome({ method: 'POST', body: '{}' }),
      blind: await outcome({ method: 'POST', body: '{}', mode: 'no-cors' }),
      logout: await outcome({ method: 'POST', body: '{}', mode: 'no-cors' }, '/api/auth/logout'),
      socket,
    };
  }, cloud.url);
  expect(tried).toEqual({
    read: 'refused',
    write: 'refused',
    blind: 'opaque 0',
    logout: 'opaque 0',
    socket: 'refused',
  });
  await evil.evaluate((target) => {
    const form = document.createElement('form');
    form.method = 'post';
    form.action = `${target}/api/sessions`;
    document.body.append(form);
    form.submit();
  }, cloud.url);
  await evil.getByText('forbidden').or(evil.getByText('unauthenticated')).waitFor();
  expect(await sessions()).toBe(before);
  await page.reload();
  await page.getByText('ada@example.com').waitFor();
});
