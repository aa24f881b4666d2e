/** All calls that wait for a person, the oldest first: one entry a session, written with the step that asks. */
import type { OwnerId, ProjectId, SessionId } from '../domain/ids.ts';
import type { WaitingCall } from '../domain/turn/waiting-call.ts';

export type WaitingEntry = WaitingCall & {
  readonly sessionId: SessionId;
  readonly project: ProjectId;
  readonly owner: OwnerId;
};

/** The selection: of one project, of one owner, or all. */
export type WaitingFilter = {
  readonly project?: ProjectId | undefined;
  readonly owner?: OwnerId | undefined;
};

export interface ApprovalStore {
  /** A full page, as long as there is more. */
  list(
    filter: WaitingFilter,
    page: { readonly after?: string | undefined; readonly itemsMax: number },
  ): Promise<{ readonly waiting: readonly WaitingEntry[]; readonly next?: string }>;
  count(filter: WaitingFilter): Promise<number>;
}
