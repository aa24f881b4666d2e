/** The providers whose wires the model broker passes on, and the fields of their JSON. */
import type { ProviderName } from '../model.ts';

export const brokerProviders = ['anthropic', 'openai', 'gemini'] as const satisfies readonly ProviderName[];
export type BrokerProvider = (typeof brokerProviders)[number];

export type Fields = Readonly<Record<string, unknown>>;

/** Undefined for what is no object of JSON. */
export const objectOf = (value: unknown): Fields | undefined =>
  typeof value === 'object' && value !== null && !Array.isArray(value) ? (value as Fields) : undefined;
