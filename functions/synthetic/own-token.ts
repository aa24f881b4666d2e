/**
 * The check's own credential: a token of its own project that is made for one check, holds for minutes and is revoked
 * at its end. So no token has to be stored, rotated, or given at a deploy.
 *
 * It is stored without an audit row: no caller requested it, and it opens no user's data.
 */
import type { Deps } from '#shared/application/deps.ts';
import { deploymentOwner, maskToken } from '#shared/domain/principal.ts';
import { syntheticProject } from '#shared/domain/synthetic-project.ts';

export type TokenPorts = Deps<'projects' | 'tokens' | 'world'>;

/** Longer than a check, and then it is worth nothing also where revoking it failed. */
const tokenMsMax = 10 * 60_000;

/** Gives `use` a token that holds while it runs. */
export const withOwnToken = async <T>(
  { projects, tokens, world }: TokenPorts,
  use: (token: string) => Promise<T>,
): Promise<T> => {
  const now = world.now();
  if ((await projects.get(syntheticProject)) === undefined)
    await projects.create({
      id: syntheticProject,
      owner: deploymentOwner,
      name: 'synthetic check',
      description: 'Sessions in which the platform tries itself',
      createdAt: now,
    });
  const token = `sp_${world.uuid()}${world.uuid()}`.replaceAll('-', '');
  const id = world.uuid();
  const isMade = await tokens.put({
    id,
    hash: world.sha256(token),
    name: 'synthetic check',
    scope: `project:${syntheticProject}`,
    masked: maskToken(token),
    createdAt: now,
    expiresAt: now + tokenMsMax,
  });
  if (!isMade) throw new Error('the project of the check is being deleted');
  try {
    return await use(token);
  } finally {
    await tokens.remove(id);
    await tokens.forget(id);
  }
};
