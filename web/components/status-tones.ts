/** Tones of the server's statuses. */
export type Tone = 'good' | 'busy' | 'wait' | 'bad' | 'off';

const tones: Readonly<Record<string, Tone>> = {
  created: 'off',
  idle: 'good',
  running: 'busy',
  completed: 'off',
  failed: 'bad',
  creating: 'busy',
  starting: 'busy',
  ready: 'good',
  stopping: 'busy',
  stopped: 'off',
  error: 'bad',
  healthy: 'good',
  unhealthy: 'bad',
  reconnecting: 'wait',
  disconnected: 'bad',
  disabled: 'off',
  enabled: 'good',
  queued: 'wait',
  waiting: 'wait',
  success: 'good',
  skipped: 'off',
  available: 'good',
  not_found: 'bad',
};

export const toneOf = (status: string): Tone => tones[status] ?? (status.startsWith('error') ? 'bad' : 'off');
