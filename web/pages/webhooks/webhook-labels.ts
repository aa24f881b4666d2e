/** Labels of the events of a webhook and of the states of its deliveries. Pure. */
import type { Webhook, WebhookDelivery } from '#sdk/routes.ts';
import type { Tone } from '../../components/status-badge.vue';

type WebhookEvent = Webhook['events'][number];

export const eventLabels: Readonly<Record<WebhookEvent, string>> = {
  approval_required: 'Approval required',
  turn_completed: 'Turn completed',
  turn_failed: 'Turn failed',
  sandbox_failed: 'Sandbox failed',
  schedule_failed: 'Scheduled run failed',
};

export const events = Object.keys(eventLabels) as readonly WebhookEvent[];

const tones: Readonly<Record<WebhookDelivery['state'], Tone>> = {
  waiting: 'wait',
  delivered: 'good',
  failed: 'bad',
};
export const deliveryTone = ({ state }: WebhookDelivery): Tone => tones[state];

/** The outcome of the last attempt. */
export const answerLabel = ({ lastStatus, lastError, attempts }: WebhookDelivery): string => {
  if (attempts === 0) return 'not sent yet';
  const answer = lastStatus === undefined ? 'no response' : `HTTP ${lastStatus}`;
  const tries = `${attempts} ${attempts === 1 ? 'attempt' : 'attempts'}`;
  return [answer, ...(lastError === undefined ? [] : [lastError]), tries].join(' · ');
};

/** Problem of a URL that the server would reject. */
export const urlProblem = (url: string): string | undefined => {
  if (url.trim() === '') return 'Enter a URL.';
  return /^https?:\/\/[^\s]+$/i.test(url.trim())
    ? undefined
    : 'Enter a URL that starts with https:// or http://, without spaces.';
};
