import { expect, test } from 'vitest';
import { logIn } from '../fixtures/logged-in.ts';

test('webhooks are created with their secret shown once, listed, tested and deleted', async () => {
  const webhook = {
    id: 'w1',
    url: 'https://x/hook',
    events: ['approval_required', 'turn_failed'],
    enabled: true,
  };
  const broken = {
    ...webhook,
    id: 'w2',
    project: 'p1',
    enabled: false,
    disabledReason: 'HTTP 500 for a day',
  };
  await using there = await logIn({
    'POST /api/webhooks': { status: 201, body: { ...webhook, secret: 'whsec_abc' } },
    'GET /api/webhooks': { body: { webhooks: [webhook, broken] } },
    'POST /api/webhooks/w1/test': { body: { ok: true, status: 204, durationMs: 12 } },
    'POST /api/webhooks/w2/test': { body: { ok: false, status: 500, durationMs: 3, error: 'HTTP 500' } },
    'DELETE /api/webhooks/w1': { body: webhook },
  });
  const events = ['--event', 'approval_required', '--event', 'turn_failed'];
  const made = await there.run(['webhooks', 'create', 'https://x/hook', ...events]);
  expect(made).toEqual({
    code: 0,
    stdout: 'whsec_abc\n',
    stderr: 'Webhook w1. Its signing secret is shown only once: store it safely.\n',
  });
  expect(JSON.parse(there.fake.asked[0]?.body ?? '')).toEqual({
    url: 'https://x/hook',
    events: ['approval_required', 'turn_failed'],
  });
  expect((await there.run(['webhooks'])).stdout).toBe(
    [
      'ID  STATE                         EVENTS                         PROJECT  URL',
      'w1  enabled                       approval_required,turn_failed  all      https://x/hook',
      'w2  disabled: HTTP 500 for a day  approval_required,turn_failed  p1       https://x/hook',
      '',
    ].join('\n'),
  );
  expect(await there.run(['webhooks', 'test', 'w1'])).toMatchObject({
    code: 0,
    stdout: 'Accepted: HTTP 204 in 12 ms.\n',
  });
  expect(await there.run(['webhooks', 'test', 'w2'])).toMatchObject({
    code: 1,
    stdout: 'Not accepted: HTTP 500.\n',
  });
  expect((await there.run(['webhooks', 'delete', 'w1'])).stdout).toBe('Deleted w1.\n');
});
