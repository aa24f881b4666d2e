/**
 * The contract of preview: answered before the router, by any method. Preview authenticates by itself, and its
 * answers are the page's own.
 */
import * as z from 'zod';
import type { ApiRoute } from './api-route.ts';
import { insideErrors } from './session-sandbox.ts';

export const previewRoute = {
  path: '/api/sessions/{id}/ports/{port}/{proxy+}',
  needs: 'own:write',
  resource: 'session',
  contract: {
    summary: 'Forward a request to a port of the sandbox',
    query: z.object({
      ticket: z.string().optional().describe('Ticket, exchanged for a cookie of this path.'),
    }),
    body: 'bytes',
    answers: { 200: 'bytes', 302: 'empty' },
    errors: insideErrors,
  },
} as const satisfies Omit<ApiRoute, 'method' | 'handler'>;
