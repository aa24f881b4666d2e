/**
 * A project: the owner of sessions, limits and defaults. The default project always exists and needs no record;
 * its stored fields win.
 */

import type { NamedAgent } from './agent-profile.ts';
import type { EffectPolicy } from './effect-rule.ts';
import type { Network } from './egress-policy.ts';
import type { Flavor } from './flavor.ts';
import type { OwnerId, ProjectId } from './ids.ts';
import { projectSecretsBytesMax, projectSecretsMax, secretValueBytesMax } from './limits.ts';
import type { Namespacing } from './mcp/server.ts';
import type { ProviderName, ThinkingLevel } from './model.ts';
import { defaultProject, deploymentOwner } from './principal.ts';
import type { RuntimeName } from './runtime-name.ts';
import type { ApprovalMode } from './session.ts';
import type { TreeLimits } from './session-tree.ts';
import type { Template } from './template.ts';
import { utf8Bytes } from './text.ts';

export type Project = {
  readonly id: ProjectId;
  readonly owner: OwnerId;
  readonly name: string;
  readonly description?: string;
  readonly provider?: ProviderName;
  /** A model of the provider above, or of the operator's. */
  readonly model?: string;
  readonly thinking?: ThinkingLevel;
  /** The program that carries the turns of its sessions; absent: the platform's own loop. */
  readonly runtime?: RuntimeName;
  readonly flavor?: Flavor;
  readonly template?: Template;
  /** The calls its agents make without a human. */
  readonly approvals?: ApprovalMode;
  /** The effects that need no person, and the tools that are decided by their effect. */
  readonly effects?: EffectPolicy;
  /** The sizes its sessions may have; absent: all. */
  readonly flavorsAllowed?: readonly Flavor[];
  /** The limits in which it differs from the operator's. */
  readonly limits?: TreeLimits;
  /** Tools its agents are not offered. */
  readonly disabledTools?: readonly string[];
  /** Text that its agents read before every conversation. */
  readonly instructions?: string;
  /** Agents that a session can be made with, by name. */
  readonly agents?: readonly NamedAgent[];
  /** The naming of its MCP servers' tools; absent: `auto`. */
  readonly mcpNamespacing?: Namespacing;
  /** The hosts that its sandboxes may reach; absent: none. */
  readonly network?: Network;
  /** Epoch milliseconds. */
  readonly createdAt: number;
};

/** The fields of a project that can be changed; `null` removes one. */
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

/** The approval mode of another system's autonomy: `off` means that no call waits, the rest have the same names. */
export const autonomies = ['off', 'low', 'medium', 'high'] as const;
export const approvalsOf = (autonomy: (typeof autonomies)[number]): ApprovalMode =>
  autonomy === 'off' ? 'auto' : autonomy;

/** The secrets of a project: names of environment variables, so that `${NAME}` in a header or variable stands for one. */
export type Secrets = Readonly<Record<string, string>>;

export type SecretsRefusal = 'too many' | 'too large';

const nameSyntax = /^[A-Za-z_][A-Za-z0-9_]{0,127}$/;

/** A name that every object inherits is refused. */
export const isSecretName = (name: string): boolean => nameSyntax.test(name) && name !== '__proto__';

/** No NUL, since no environment can hold one; and no half of a surrogate pair, which UTF-8 cannot. */
export const isSecretValue = (value: string): boolean =>
  value !== '' && !value.includes('\0') && value.isWellFormed() && utf8Bytes(value) <= secretValueBytesMax;

export const withSecret = (secrets: Secrets, name: string, value: string): Secrets | SecretsRefusal => {
  const next = { ...secrets, [name]: value };
  if (Object.keys(next).length > projectSecretsMax) return 'too many';
  return utf8Bytes(JSON.stringify(next)) > projectSecretsBytesMax ? 'too large' : next;
};

export const withoutSecret = (secrets: Secrets, name: string): Secrets =>
  Object.fromEntries(Object.entries(secrets).filter(([known]) => known !== name));
