/** A project as the table holds it, decoded on its way in. */
import * as z from 'zod';
import type { OwnerId, ProjectId } from '#shared/domain/ids.ts';
import { agentSettings, approvals, epochMs, flavor, id, provider, template } from './fields.ts';

export const projectRecord = z.object({
  id: id<ProjectId>(),
  owner: id<OwnerId>(),
  name: z.string(),
  description: z.string().exactOptional(),
  flavor: flavor.exactOptional(),
  template: template.exactOptional(),
  approvals: approvals.exactOptional(),
  flavorsAllowed: z.array(flavor).exactOptional(),
  provider: provider.exactOptional(),
  model: z.string().exactOptional(),
  ...agentSettings,
  createdAt: epochMs,
});
