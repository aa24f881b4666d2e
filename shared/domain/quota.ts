/** Places: how many sessions an owner or a project may have at once, and who holds one. */
import type { Flavor } from './flavor.ts';
import { isUuid, type OwnerId, type ProjectId, type SessionId } from './ids.ts';
import type { Session, SessionKind } from './session.ts';

/** Active agent sessions of one project. */
export const agentSessionsMax = 10;

/** Whose places they are: execution sessions count per owner, agent sessions per project. */
export type PlaceHolder = string & { readonly brand: 'PlaceHolder' };

export const executionPlaces = (owner: OwnerId): PlaceHolder => `execution#${owner}` as PlaceHolder;
export const agentPlaces = (project: ProjectId): PlaceHolder => `agent#${project}` as PlaceHolder;

/** Of whose project they are: a deployment's and a person's own are of none. */
export const projectOfPlaces = (holder: PlaceHolder): ProjectId | undefined => {
  const [, id = ''] = holder.split('#');
  return isUuid(id) ? (id as ProjectId) : undefined;
};

export const placesOf = ({
  kind,
  owner,
  project,
}: Pick<Session, 'kind' | 'owner' | 'project'>): PlaceHolder =>
  kind === 'execution' ? executionPlaces(owner) : agentPlaces(project);

/** A place that is taken. */
export type Place = { readonly session: SessionId; readonly flavor: Flavor; readonly takenAt: number };

export type PlaceLimits = { readonly executionMax: number; readonly agentMax: number };

export const placesMax = (kind: SessionKind, { executionMax, agentMax }: PlaceLimits): number =>
  kind === 'execution' ? executionMax : agentMax;
