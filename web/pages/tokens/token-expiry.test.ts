import { expect, test } from 'vitest';
import { createSSRApp } from 'vue';
import { renderToString } from 'vue/server-renderer';
import TokenExpiry from './token-expiry.vue';

const shown = async (at: string | undefined): Promise<string> =>
  (await renderToString(createSSRApp(TokenExpiry, { at }))).replaceAll(/<[^>]*>/g, '');

test('a token without expiry shows Never, an expired one shows expired', async () => {
  expect(await shown(undefined)).toBe('Never');
  expect(await shown('2020-01-01T00:00:00.000Z')).toContain('xpired');
});
