/** Disables a webhook that cannot be delivered to, and records it: in its view, in the audit log, in a metric. */

import { deploymentOwner, type Principal } from '../../domain/principal.ts';
import type { Webhook } from '../../domain/webhook/webhook.ts';
import { audit } from '../access/audit.ts';
import type { AuditDeps, Deps } from '../deps.ts';
import { changesTooOften, raceLost, untilWon } from '../write-race.ts';

/** The principal of the platform itself, without a request. */
const sender: Principal = { owner: deploymentOwner, scope: 'admin', tokenHash: 'webhooks' };

/** With the address and the day of the attempts that failed: one that was given another since is judged by its own. */
export const disableWebhook = async (
  ports: AuditDeps & Deps<'webhooks'>,
  { id, url, enabledAt }: Pick<Webhook, 'id' | 'url' | 'enabledAt'>,
  disabledReason: string,
): Promise<void> => {
  const { webhooks, world, telemetry } = ports;
  await untilWon(async () => {
    const webhook = await webhooks.get(id);
    if (webhook === undefined || !webhook.isEnabled) return undefined;
    if (webhook.url !== url || webhook.enabledAt !== enabledAt) return undefined;
    const at = world.now();
    const next = { ...webhook, isEnabled: false, disabledReason, disabledAt: at, updatedAt: at };
    if ((await webhooks.replace(next)) === undefined) return raceLost;
    telemetry.count('WebhooksDisabled');
    telemetry.error('a webhook was disabled', {
      event: 'webhook_disabled',
      webhookId: id,
      project: webhook.project,
      reason: disabledReason,
    });
    await audit(ports, sender, {
      action: 'webhook.disable',
      subject: id,
      project: webhook.project,
      detail: { reason: disabledReason },
    });
    return undefined;
  }, changesTooOften('the webhook'));
};
