/** Asks before a schedule that the platform disabled is enabled: it has lost its creator, and goes on in another name (J7). */
import type { Schedule } from '#sdk/routes.ts';
import { confirm } from '../../components/confirm-dialog.vue';

/** True at once for any other change. */
export const confirmEnabling = async (
  { name, disabledReason }: Pick<Schedule, 'name' | 'disabledReason'>,
  enabled: boolean,
): Promise<boolean> =>
  !enabled ||
  disabledReason === undefined ||
  confirm({
    title: `Enable schedule ${name}?`,
    text: 'From now on it runs with your permissions.',
    action: 'Enable',
  });
