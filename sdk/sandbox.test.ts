import { expect, test } from 'vitest';
import { Sallyport } from './sallyport.ts';

/** A sandbox whose requests are answered one after the other, and what was asked, with the bodies. */
const sandboxOf = async (answers: readonly Response[]) => {
  const asked: string[] = [];
  const left = [Response.json({ id: 's', kind: 'execution' }), ...answers];
  const fetch = async (url: unknown, { method, body }: RequestInit = {}): Promise<Response> => {
    const { pathname, search } = new URL(String(url));
    asked.push(`${method} ${pathname}${search} ${body ?? ''}`.trim());
    return left.shift() ?? Response.error();
  };
  const sallyport = new Sallyport({ url: 'https://x.example', fetch, triesMax: 1 });
  return { sallyport, sandbox: await sallyport.sandboxes.create(), asked };
};

test('it ends with the block that uses it, also after an error', async () => {
  const { sandbox, asked } = await sandboxOf([Response.json({})]);
  const work = async (): Promise<void> => {
    await using _used = sandbox;
    throw new Error('the work failed');
  };
  await expect(work()).rejects.toThrow('the work failed');
  expect(asked.at(-1)).toBe('DELETE /api/sessions/s');
});

test('sandboxes are listed by one label, or by several', async () => {
  const page = (): Response => Response.json({ sessions: [] });
  const { sallyport, asked } = await sandboxOf([page(), page(), page()]);
  await sallyport.sandboxes.list();
  await sallyport.sandboxes.list({ label: 'team:red' });
  await sallyport.sandboxes.list({ label: ['team:red', 'run:7'] });
  expect(asked.slice(1)).toEqual([
    'GET /api/sessions?status=active',
    'GET /api/sessions?status=active&label=team%3Ared',
    'GET /api/sessions?status=active&label=team%3Ared&label=run%3A7',
  ]);
});
