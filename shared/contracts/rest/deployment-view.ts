/** The whole deployment as REST shows it: use and limits, and the models of a provider. */

import * as z from 'zod';
import { providers } from '#shared/domain/model.ts';

const count = z.number().int().min(0);
const ratio = z.number().min(0).describe('Share in use, from 0 to 1.');

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
  .meta({ id: 'Stats', description: 'Use and limits of the execution sessions of the caller.' });

const provider = z.enum(providers);

const usd = z.number().min(0);
const price = z.object({ input: usd, output: usd, cached: usd.optional(), cacheWrite: usd.optional() });

export const modelsAnswer = z.object({
  provider,
  configured: z.array(provider).describe('Usable providers: those that have a key or need none.'),
  models: z.array(
    z.object({
      id: z.string(),
      name: z.string(),
      price: price.optional().describe('Price in US dollars for a million tokens; absent: unknown.'),
    }),
  ),
});

export const modelChecksAnswer = z.object({
  provider,
  models: z.record(
    z.string(),
    z.string().describe('Result by model: available, not_found or error: <reason>.'),
  ),
});

export const openApiAnswer = z.looseObject({ openapi: z.literal('3.1.1') });
