/** The project in which the platform tries itself: its sessions take no slot of a user's project. */
import type { ProjectId } from './ids.ts';

/** The permissions of the function name it (`infra/constructs/table-permissions.ts`). */
export const syntheticProject = '00000000-0000-4000-8000-00000000c4ec' as ProjectId;
