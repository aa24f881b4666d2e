/**
 * `ProjectSecrets` on Secrets Manager: one sealed bundle per project that has any, and the table names the
 * current one (docs/adr/0009-secrets-are-sealed-bundles.md).
 *
 * A reader gets the values of one moment. Names are read from the table alone, and so is the fact that there are
 * none.
 */
import type { ProjectId } from '#shared/domain/ids.ts';
import { projectSecretsBytesMax, projectSecretsMax } from '#shared/domain/limits.ts';
import { type Secrets, type SecretsRefusal, withoutSecret, withSecret } from '#shared/domain/project.ts';
import { AppError } from '#shared/errors.ts';
import type { ProjectSecrets } from '#shared/ports/projects.ts';
import { makeSecretPointers } from './dynamo/secret-pointer.ts';
import type { Table } from './dynamo/table.ts';
import { makeSecretBundles, openSecretsClient } from './secret-bundles.ts';
import { changeSecrets, type Decide, type SecretParts, whenThere } from './secret-change.ts';
import { heldForAWhile } from './ttl-cache.ts';

export const openProjectSecrets = (
  table: Table,
  { prefix, keyArn }: { readonly prefix: string; readonly keyArn?: string | undefined },
): ProjectSecrets =>
  makeProjectSecrets({
    pointers: makeSecretPointers(table),
    bundles: makeSecretBundles({ openClient: openSecretsClient, keyArn }),
    prefix,
    now: Date.now,
  });

export const makeProjectSecrets = (parts: SecretParts): ProjectSecrets => {
  const held = heldForAWhile<ProjectId, Secrets>(parts.now, (project) => readNow(parts, project));
  const change = async <R extends string>(
    project: ProjectId,
    decide: Decide<R>,
    isClearing = false,
  ): Promise<Secrets | R> => {
    try {
      return await changeSecrets(parts, { project, isClearing }, decide);
    } finally {
      held.forget(project);
    }
  };
  return {
    names: async (project) => (await parts.pointers.read(project)).names.toSorted(),
    read: held.get,
    put: async (project, name, value) => {
      let isNew = true;
      const decision = await change(project, (secrets) => {
        isNew = !Object.hasOwn(secrets, name);
        return withSecret(secrets, name, value);
      });
      if (typeof decision === 'string') throw limitExceeded(decision);
      return isNew;
    },
    remove: async (project, name) => {
      const decision = await change(project, (secrets) =>
        Object.hasOwn(secrets, name) ? withoutSecret(secrets, name) : 'unknown',
      );
      return decision !== 'unknown';
    },
    clear: async (project) => {
      await change(project, (secrets) => (Object.keys(secrets).length === 0 ? 'none' : {}), true);
    },
  };
};

/** The pointer is read each time: a concurrent change may have deleted the bundle it named. */
const readNow = ({ pointers, bundles }: SecretParts, project: ProjectId): Promise<Secrets> =>
  whenThere(async () => {
    const { current } = await pointers.read(project);
    return current === undefined ? {} : bundles.find(current);
  });

const limits: Readonly<Record<SecretsRefusal, string>> = {
  'too many': `a project has at most ${projectSecretsMax} secrets`,
  'too large': `the secrets of a project have at most ${projectSecretsBytesMax} bytes`,
};

const limitExceeded = (refusal: SecretsRefusal): AppError =>
  new AppError('resource_limit_exceeded', limits[refusal], {
    suggestions: ['Remove a secret that is no longer used.'],
  });
