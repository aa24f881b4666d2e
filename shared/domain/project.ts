/**
 * A project: whose sessions, limits and defaults belong together. The default project is always there and
 * needs no record; what is stored of it wins.
 */
import type { Flavor, Template } from './flavor.ts';
import type { OwnerId, ProjectId } from './ids.ts';
import { defaultProject, deploymentOwner } from './principal.ts';
import type { ApprovalMode } from './session.ts';

export type Project = {
  readonly id: ProjectId;
  readonly owner: OwnerId;
  readonly name: string;
  readonly description?: string;
  readonly flavor?: Flavor;
  readonly template?: Template;
  /** Which calls its agents make without a human. */
  readonly approvals?: ApprovalMode;
  /** The sizes its sessions may have; absent: all. */
  readonly flavorsAllowed?: readonly Flavor[];
  /** Epoch milliseconds. */
  readonly createdAt: number;
};

export const theDefaultProject: Project = {
  id: defaultProject,
  owner: deploymentOwner,
  name: 'default',
  createdAt: 0,
};

export const allowsFlavor = ({ flavorsAllowed }: Project, flavor: Flavor): boolean =>
  flavorsAllowed === undefined || flavorsAllowed.includes(flavor);
