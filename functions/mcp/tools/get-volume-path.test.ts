import { expect, test } from 'vitest';
import type { ToolContext } from '../define-tool.ts';
import { getVolumePath } from './get-volume-path.ts';

const contextOf = (isAvailable: boolean) =>
  ({
    principal: { scope: 'admin:ro' },
    settings: { volume: { guestPath: '/shared', isAvailable } },
    ports: { sessions: { getWithTurn: async () => undefined } },
  }) as unknown as ToolContext;

test.each([true, false])(
  'says where the shared folder is and whether there is one (%s)',
  async (available) => {
    expect(await getVolumePath.run({}, contextOf(available))).toEqual({
      volume_path: '/shared',
      description: expect.stringContaining(available ? 'SHARED_VOLUME_PATH' : '/workspace'),
      available,
    });
  },
);

test('a session that does not exist is not found', async () => {
  const asked = getVolumePath.run({ session_id: 'none' }, contextOf(true));
  await expect(asked).rejects.toMatchObject({ code: 'session_not_found' });
});
