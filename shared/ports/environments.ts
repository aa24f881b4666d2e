/** Sealed environments of sandboxes: written once, with their session, and opened only to start a sandbox. */
import type { SessionId } from '../domain/ids.ts';
import type { EnvironmentRef, Variables } from '../domain/session-environment.ts';

export type SealedEnvironment = EnvironmentRef & {
  /** As the table holds it. */
  readonly sealed: string;
};

export interface Environments {
  seal(session: SessionId, variables: Variables): SealedEnvironment;
  /** Undefined when it is deleted, or was sealed with a secret that has been replaced. */
  read(session: SessionId): Promise<Variables | undefined>;
}
