/** Options of the project form. */
import { flavorOptions, providerOptions, templateOptions } from '../../components/session-options.ts';

const byDefault = { value: '', label: 'Deployment default' } as const;

export const providerChoices = [byDefault, ...providerOptions];
export const flavorChoices = [byDefault, ...flavorOptions];
export const templateChoices = [byDefault, ...templateOptions];

export const namespacingChoices = [
  { value: '', label: 'Default: automatic' },
  { value: 'auto', label: 'Automatic: prefix when needed' },
  { value: 'prefix', label: 'Always: prefix with the server name' },
  { value: 'none', label: 'Only on conflicts' },
] as const;

export const approvalChoices = [
  byDefault,
  { value: 'ask', label: 'ask: every call' },
  { value: 'low', label: 'low: all except reading files' },
  { value: 'medium', label: 'medium: all except file access and plain git' },
  { value: 'high', label: 'high: only repeated calls' },
  { value: 'auto', label: 'auto: none' },
] as const;
