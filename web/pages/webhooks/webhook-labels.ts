/** Labels of the events of a webhook and of the states of its deliveries. Pure. */
import type { Webhook, WebhookDelivery } from '#sdk/routes.ts';
import type { Tone } from '../../components/status-tones.ts';

type WebhookEvent = Webhook['events'][number];

export const eventLabels: Readonly<Record<WebhookEvent, string>> = {
  approval_required: 'A call needs approval',
  turn_completed: 'A turn has completed',
  turn_failed: 'A turn has failed',
  sandbox_failed: 'A sandbox has failed',
  schedule_failed: 'A scheduled run has failed',
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
  if (attempts === 0) return 'not tried yet';
  const answer = lastStatus === undefined ? 'no answer' : `answered ${lastStatus}`;
  const tries = `${attempts} ${attempts === 1 ? 'attempt' : 'attempts'}`;
  return [answer, ...(lastError === undefined ? [] : [lastError]), tries].join(' · ');
};

/** As the server would refuse it, said before it is sent. */
export const urlProblem = (url: string): string | undefined => {
  if (url.trim() === '') return 'Enter a URL.';
  return /^https?:\/\/[^\s]+$/i.test(url.trim())
    ? undefined
    : 'Begin with https:// or http://, without spaces.';
};
