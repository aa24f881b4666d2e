/**
 * Secrets of a project: written and removed by those who may write it, listed by name, never shown.
 *
 * Rows of the audit log carry the name and never the value. The values lie in Secrets Manager (`project-secrets.ts` among the
 * adapters); they are read for the registered servers (`mcp-target.ts`) and for the headers of requests of a sandbox
 * (`secret-headers.ts`).
 */

import type { Principal } from '../../domain/principal.ts';
import { isSecretName, type Project } from '../../domain/project.ts';
import { AppError, isAppError } from '../../errors.ts';
import { audit } from '../access/audit.ts';
import { findProject } from '../access/find-project.ts';
import type { Deps, ProjectDeps } from '../deps.ts';
import { getProject } from './manage-projects.ts';

/** One secret of a project as a request names it; neither part is validated yet. */
export type SecretReference = { readonly project: string; readonly name: string };

export const listSecretNames = async (
  { projects, secrets }: Deps<'projects' | 'secrets'>,
  principal: Principal,
  project: string,
): Promise<readonly string[]> => secrets.names((await getProject(projects, principal, project)).id);

/** True when it is a new name. The contract has validated the value. */
export const putSecret = async (
  ports: ProjectDeps & Deps<'secrets'>,
  principal: Principal,
  { project, name, value }: SecretReference & { readonly value: string },
): Promise<{ readonly isNew: boolean }> => {
  const { id } = await writable(ports, principal, project);
  if (!isSecretName(name))
    throw new AppError(
      'invalid_request',
      'the name of a secret is a letter or _, then letters, digits and _, at most 128 characters',
    );
  const record = () =>
    audit(ports, principal, { action: 'secret.put', subject: `${id}/${name}`, project: id });
  const isNew = await orRecorded(ports.secrets.put(id, name, value), record);
  await record();
  return { isNew };
};

export const removeSecret = async (
  ports: ProjectDeps & Deps<'secrets'>,
  principal: Principal,
  { project, name }: SecretReference,
): Promise<void> => {
  const { id } = await writable(ports, principal, project);
  const record = () =>
    audit(ports, principal, { action: 'secret.remove', subject: `${id}/${name}`, project: id });
  const isRemoved = isSecretName(name) && (await orRecorded(ports.secrets.remove(id, name), record));
  if (!isRemoved) throw new AppError('not_found', 'there is no such secret');
  await record();
};

/** A change that failed may hold: only its former values could not be deleted. */
const orRecorded = async <T>(change: Promise<T>, record: () => Promise<void>): Promise<T> => {
  try {
    return await change;
  } catch (error) {
    if (isAppError(error) && error.details.context?.['isChanged'] === true) await record();
    throw error;
  }
};

const writable = (
  { projects }: ProjectDeps & Deps<'secrets'>,
  principal: Principal,
  reference: string,
): Promise<Project> => findProject(projects, { id: reference, principal, intent: 'write' });
