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

/** The outcome of the last attempt. An error that says no more than the status is left out. */
export const answerLabel = ({ lastStatus, lastError, attempts }: WebhookDelivery): string => {
  if (attempts === 0) return 'not sent yet';
  const tries = `${attempts} ${attempts === 1 ? 'attempt' : 'attempts'}`;
  return [...outcome(lastStatus, lastError), tries].join(' · ');
};

const outcome = (status: number | undefined, error: string | undefined): readonly string[] => {
  if (status === undefined) return error === undefined ? ['no response'] : ['no response', error];
  const answer = `HTTP ${status}`;
  return error === undefined || error === `it answered with ${answer}` ? [answer] : [answer, error];
};

/** The outcome of a test. */
export const testLabel = ({ status, error, durationMs }: WebhookTest): string => {
  const [answer = '', why] = outcome(status, error);
  return `${answer.replace(/^n/, 'N')} after ${durationMs} ms${why === undefined ? '' : `: ${why}`}`;
};

type WebhookTest = {
  readonly status?: number | undefined;
  readonly error?: string | undefined;
  readonly durationMs: number;
};

/** Most receivers answer so where the signature does not fit. */
export const secretAdvice = (status: number | undefined): string | undefined =>
  status === 401 || status === 403
    ? 'The receiver refused the request: compare its secret. If you lost it, create the webhook again: it cannot be shown.'
    : undefined;

/** Problem of a URL that the server would reject. */
export const urlProblem = (url: string): string | undefined => {
  if (url.trim() === '') return 'Enter a URL.';
  return /^https?:\/\/[^\s]+$/i.test(url.trim())
    ? undefined
    : 'Enter a URL that starts with https:// or http://, without spaces.';
};
