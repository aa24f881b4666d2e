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
    summary: 'Show what a program in the sandbox serves on a port',
    query: z.object({ ticket: z.string().optional().describe('Exchanged for a cookie of this path.') }),
    body: 'bytes',
    answers: { 200: 'bytes', 302: 'empty' },
    errors: insideErrors,
  },
} as const satisfies Omit<ApiRoute, 'method' | 'handler'>;
