/**
 * `npm run screenshots -- states <folder>`: states of the app that a person has to look at, each in light, in dark and on a phone.
 *
 * They are many and change with the app: they belong to no page, and the folder is outside the repository.
 */
import type { Page } from 'playwright-core';
import type { EmbeddedCloud } from '../../e2e/embedded-cloud.ts';
import { mayApprove, say } from '../chat.ts';
import type { AnswerPart, PacedProvider } from '../paced-provider.ts';
import type { StateScenes } from './state-scenes.ts';

export type Stage = {
  readonly cloud: EmbeddedCloud;
  readonly provider: PacedProvider;
  readonly scenes: StateScenes;
};

export type State = {
  readonly name: string;
  readonly path: (stage: Stage) => string;
  readonly pose: (page: Page, stage: Stage) => Promise<unknown>;
};

const list = (path: string, shown: string | RegExp, name = path.slice(1)): State => ({
  name,
  path: () => path,
  pose: (page) => page.getByRole('main').getByText(shown).first().waitFor(),
});

const panel = (tab: string, shown: (page: Page) => Promise<unknown>): State => ({
  name: `panel-${tab}`,
  path: ({ scenes }) => `/chat/${scenes.working}?panel=${tab}`,
  pose: shown,
});

const onSandbox = (tab: string, shown: (page: Page) => Promise<unknown>): State => ({
  name: `sandbox-${tab.toLowerCase()}`,
  path: ({ scenes }) => `/sessions/${scenes.working}/sandbox`,
  pose: async (page) => {
    await page.getByRole('tab', { name: tab }).click();
    await shown(page);
  },
});

const failure = (
  name: string,
  answers: readonly Parameters<PacedProvider['script']['push']>[0][],
  shown: RegExp,
): State => ({
  name: `failed-${name}`,
  path: () => '/chat',
  pose: async (page, { provider }) => {
    provider.script.push(...answers);
    await say(page, `Summarise the report (${name})`);
    await page.getByText(shown).last().waitFor();
    provider.script.length = 0;
  },
});

const breaks: readonly AnswerPart[] = [
  { text: 'The report sums the orders of a day. First, ' },
  { breaks: true },
];

const runInTerminal = async (page: Page): Promise<void> => {
  await page.getByRole('button', { name: 'New terminal' }).click();
  await page.locator('.xterm-helper-textarea:focus').waitFor({ state: 'attached' });
  await page.keyboard.type('ls -la --color=always; python3 report.py; git status');
  await page.keyboard.press('Enter');
  await page.locator('.xterm-rows').getByText('total').first().waitFor();
};

const startPreview = async (page: Page): Promise<void> => {
  await page.getByRole('button', { name: /^Open 8123/ }).waitFor();
  await page.getByRole('button', { name: /^Check 8123/ }).click();
  await page.getByText('responding', { exact: true }).waitFor();
};

export const states: readonly State[] = [
  list('/servers', 'issues'),
  {
    name: 'servers-form',
    path: () => '/servers',
    pose: (page) => page.getByRole('button', { name: 'Add server' }).first().click(),
  },
  {
    name: 'secrets',
    path: ({ scenes }) => `/projects/${scenes.project}`,
    pose: async (page) => {
      await page.getByRole('tab', { name: 'Secrets' }).click();
      await page.getByText('STRIPE_KEY').first().waitFor();
    },
  },
  {
    name: 'project',
    path: ({ scenes }) => `/projects/${scenes.project}`,
    pose: (page) => page.getByRole('button', { name: 'Edit' }).waitFor(),
  },
  {
    name: 'project-edit',
    path: ({ scenes }) => `/projects/${scenes.project}`,
    pose: (page) => page.getByRole('button', { name: 'Edit' }).click(),
  },
  list('/projects', 'payments'),
  list('/connections', 'a client'),
  onSandbox('Snapshots', (page) => page.getByText('before-refactoring').waitFor()),
  onSandbox('Details', (page) => page.getByText('CPU').first().waitFor()),
  onSandbox('Network', (page) => page.getByRole('tabpanel').waitFor()),
  panel('agents', (page) => page.getByRole('region', { name: 'Agents' }).getByRole('link').nth(1).waitFor()),
  panel('files', (page) => page.getByRole('treeitem', { name: 'report.py' }).first().click()),
  panel('changes', (page) => page.getByText('+').first().waitFor()),
  panel('terminal', runInTerminal),
  panel('preview', startPreview),
  panel('logs', (page) => page.getByText(/ready after/).waitFor()),
  {
    name: 'audit',
    path: () => '/audit',
    pose: async (page) => {
      await page.locator('tbody tr').first().waitFor();
      await page.getByRole('main').getByRole('combobox').first().selectOption({ index: 2 });
    },
  },
  list('/usage', /\$/),
  {
    name: 'usage-model',
    path: () => '/usage?by=model',
    pose: (page) => page.locator('td').first().waitFor(),
  },
  failure('401', [{ status: 401 }], /^Tried /),
  failure('429', [{ status: 429, retryAfter: '90' }], /^Tried /),
  failure(
    'waits',
    [
      { status: 429, retryAfter: '9' },
      { status: 429, retryAfter: '9' },
    ],
    /Trying again/,
  ),
  failure(
    '529',
    Array.from({ length: 9 }, () => ({ status: 529, retryAfter: '90' })),
    /^Tried /,
  ),
  failure(
    '500',
    Array.from({ length: 9 }, () => ({ status: 500, retryAfter: '90' })),
    /^Tried /,
  ),
  failure('cut', [breaks, { status: 529, retryAfter: '3600' }], /interrupted/),
  {
    name: 'attachments',
    path: ({ scenes }) => `/chat/${scenes.attached}`,
    pose: async (page, { scenes }) => {
      await page.locator('[data-kind="question"] img').first().waitFor();
      await page.locator('input[type="file"]').setInputFiles([...scenes.files]);
      await page.getByRole('list', { name: 'Attached files' }).last().locator('img').waitFor();
    },
  },
  {
    name: 'answer',
    path: ({ scenes }) => `/chat/${scenes.rich}`,
    pose: (page) => page.locator('math').first().waitFor(),
  },
  {
    name: 'answer-top',
    path: ({ scenes }) => `/chat/${scenes.rich}`,
    pose: async (page) => {
      await page.locator('math').first().waitFor();
      await page.locator('.scroller').evaluate((scroller) => scroller.scrollTo(0, 0));
    },
  },
  {
    name: 'answer-package',
    path: ({ scenes }) => `/chat/${scenes.rich}`,
    pose: (page) => page.getByText('The sandbox has the packages of its template').scrollIntoViewIfNeeded(),
  },
  {
    name: 'palette',
    path: () => '/sessions',
    pose: async (page) => {
      await page.keyboard.press('Control+k');
      await page.keyboard.type('report');
      await page.getByRole('option').first().waitFor();
    },
  },
  {
    name: 'approval',
    path: ({ scenes }) => `/chat/${scenes.waiting}`,
    pose: mayApprove,
  },
  {
    name: 'approvals',
    path: () => '/approvals',
    pose: mayApprove,
  },
  list('/sessions', /report/i),
  {
    name: 'sessions-search',
    path: () => '/sessions?search=report&in=messages',
    pose: (page) => page.locator('mark').first().waitFor(),
  },
  list('/schedules', 'nightly'),
  {
    name: 'schedule',
    path: ({ scenes }) => `/schedules/${scenes.schedule}`,
    pose: (page) => page.getByRole('region', { name: 'History' }).waitFor(),
  },
  list('/webhooks', 'hooks.example'),
  list('/tokens', 'ci'),
  list('/models', 'Anthropic'),
  {
    name: 'operator',
    path: () => '/operator',
    pose: (page) => page.locator('canvas').first().waitFor(),
  },
  {
    name: 'new-session',
    path: () => '/chat',
    pose: (page) => page.getByText('Project, model, sandbox').click(),
  },
  {
    name: 'token-offer',
    path: ({ scenes }) => `token=${scenes.otherToken}`,
    pose: (page) => page.locator('button:enabled', { hasText: 'Switch' }).waitFor(),
  },
  {
    name: 'offline',
    path: ({ scenes }) => `/chat/${scenes.rich}`,
    pose: async (page) => {
      await page.locator('math').first().waitFor();
      await page.context().setOffline(true);
      await page.evaluate('document.dispatchEvent(new Event("visibilitychange"))');
      await page.getByText('Offline').first().waitFor();
    },
  },
];

/** With a token of a project in which nothing is yet. */
export const emptyStates: readonly State[] = [
  list('/sessions', 'No sessions yet', 'empty-sessions'),
  list('/approvals', 'No pending approvals', 'empty-approvals'),
  list('/schedules', /./, 'empty-schedules'),
  list('/servers', /./, 'empty-servers'),
  list('/webhooks', /./, 'empty-webhooks'),
  list('/usage', /./, 'empty-usage'),
  list('/connections', /./, 'empty-connections'),
  list('/operator', /./, 'empty-operator'),
  list('/audit', "You don't have access", 'empty-audit'),
  list('/chat', /./, 'empty-chat'),
  list('/nowhere', /./, 'empty-unknown'),
];
