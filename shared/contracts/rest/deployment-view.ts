/** The whole deployment as REST shows it: use and limits, and the models of a provider. */
import * as z from 'zod';

const count = z.number().int().min(0);
const ratio = z.number().min(0).describe('From 0 to 1.');

export const statsAnswer = z
  .object({
    activeSessions: count,
    maxSessions: count,
    totalMemoryMb: count,
    totalCpus: z.number().min(0),
    flavorCounts: z.record(z.string(), count),
    sessionUtilization: ratio,
    allocatedPorts: count,
    availablePorts: count,
    portUtilization: ratio,
    pool: z.object({ ready: count, target: count }),
    limits: z.enum(['enforced', 'best effort']),
  })
  .meta({ id: 'Stats', description: 'Of the execution sessions of whoever asks.' });

const provider = z.enum(['anthropic', 'openai', 'gemini', 'demo']);

const usd = z.number().min(0);
const price = z.object({ input: usd, output: usd, cached: usd.optional(), cacheWrite: usd.optional() });

export const modelsAnswer = z.object({
  provider,
  configured: z.array(provider).describe('Providers that can be used: there is a key, or none is needed.'),
  models: z.array(
    z.object({
      id: z.string(),
      name: z.string(),
      price: price.optional().describe('In USD for a million tokens; absent: not known.'),
    }),
  ),
});

export const modelChecksAnswer = z.object({
  provider,
  models: z.record(z.string(), z.string().describe('available, not_found or error: <why>')),
});

export const openApiAnswer = z.looseObject({ openapi: z.literal('3.1.1') });
