/**
 * The bearer of one sandbox generation: derived from the deployment's secret, so that it is never stored and a
 * repeated start sends the same bytes. The sandbox gets only its hash.
 */
import { createHash, createHmac } from 'node:crypto';

export const bearerOf = (secret: string, workspaceId: string, generation: number): string =>
  createHmac('sha256', secret).update(`${workspaceId}:${generation}`).digest('hex');

export const bearerHashOf = (secret: string, workspaceId: string, generation: number): string =>
  createHash('sha256')
    .update(bearerOf(secret, workspaceId, generation))
    .digest('hex');
