/**
 * A project: whose sessions, limits and defaults belong together. The default project is always there and
 * needs no record; what is stored of it wins.
 */
import type { Flavor, Template } from './flavor.ts';
import type { OwnerId, ProjectId } from './ids.ts';
import type { Namespacing } from './mcp/naming.ts';
import type { ProviderName } from './model.ts';
import { defaultProject, deploymentOwner } from './principal.ts';
import type { ApprovalMode } from './session.ts';
import type { TreeLimits } from './tree-limits.ts';

export type Project = {
  readonly id: ProjectId;
  readonly owner: OwnerId;
  readonly name: string;
  readonly description?: string;
  readonly provider?: ProviderName;
  /** Of the provider above, or of the operator's. */
  readonly model?: string;
  readonly flavor?: Flavor;
  readonly template?: Template;
  /** Which calls its agents make without a human. */
  readonly approvals?: ApprovalMode;
  /** The sizes its sessions may have; absent: all. */
  readonly flavorsAllowed?: readonly Flavor[];
  /** Where it differs from the operator. */
  readonly limits?: TreeLimits;
  /** Tools its agents are not offered. */
  readonly disabledTools?: readonly string[];
  /** How tools of its MCP servers are named; absent: `auto`. */
  readonly mcpNamespacing?: Namespacing;
  /** Epoch milliseconds. */
  readonly createdAt: number;
};

/** What of a project can be changed; `null` takes a field away. */
export type ProjectChange = {
  readonly [Field in Exclude<keyof Project, 'id' | 'owner' | 'createdAt' | 'name'>]?:
    | NonNullable<Project[Field]>
    | null
    | undefined;
} & { readonly name?: string | undefined };

export const theDefaultProject: Project = {
  id: defaultProject,
  owner: deploymentOwner,
  name: 'default',
  createdAt: 0,
};

export const allowsFlavor = ({ flavorsAllowed }: Pick<Project, 'flavorsAllowed'>, flavor: Flavor): boolean =>
  flavorsAllowed === undefined || flavorsAllowed.includes(flavor);

/**
 * The approval mode that an autonomy of another system's name means: `off` asks nobody, the rest are called the same.
 */
export const autonomies = ['off', 'low', 'medium', 'high'] as const;
export type Autonomy = (typeof autonomies)[number];

export const approvalsOf = (autonomy: Autonomy): ApprovalMode => (autonomy === 'off' ? 'auto' : autonomy);
