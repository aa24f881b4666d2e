/** Asks before a schedule is enabled that would act in another name from then on (J7). */
import type { Schedule } from '#sdk/routes.ts';
import { ownProject, signIn } from '../../access/access.ts';
import { confirm } from '../../components/confirm-dialog.vue';

type Enabled = Pick<Schedule, 'name' | 'disabledReason' | 'creator'>;

/** True at once for any other change. */
export const confirmEnabling = async (schedule: Enabled, enabled: boolean): Promise<boolean> =>
  !enabled ||
  !isTakenOver(schedule) ||
  confirm({
    title: `Enable schedule ${schedule.name}?`,
    text: 'From now on it runs with your permissions.',
    action: 'Enable',
  });

/** One that the platform disabled has lost its creator. A caller bound to a project takes over what another caller made. */
const isTakenOver = ({ disabledReason, creator }: Enabled): boolean => {
  if (disabledReason !== undefined) return true;
  const { value } = signIn;
  return value.kind === 'signed-in' && ownProject.value !== undefined && creator.id !== value.access.id;
};
