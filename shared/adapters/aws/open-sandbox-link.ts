/** The link of a function that reads saved files and sends requests into sandboxes that run, and starts none. */
import type { LambdaClient } from '@aws-sdk/client-lambda';
import type { SandboxLink } from '#shared/ports/sandbox.ts';
import type { Correlation } from '#shared/ports/telemetry.ts';
import type { SavedFiles } from '#shared/ports/workspace-archive.ts';
import { makeSandboxLink } from './lambda-sandbox-link.ts';
import { makeSavedFiles } from './lambda-saved-files.ts';
import { bearerOf } from './sandbox-bearer.ts';
import { resolveSecret } from './setting-secrets.ts';

type Variables = { readonly SANDBOX_LINK_FUNCTION: string; readonly SANDBOX_SECRET: string };

type Options = { readonly lambda: LambdaClient; readonly correlation: Correlation };

/** The secret is resolved for each request, so that a changed one is noticed. */
export const openSandboxLink = (
  { SANDBOX_LINK_FUNCTION: functionName, SANDBOX_SECRET }: Variables,
  { lambda: client, correlation }: Options,
): SandboxLink => ({
  fetch: async (sandbox, request) => {
    const secret = await resolveSecret(SANDBOX_SECRET);
    const bearer = (workspaceId: string, generation: number) => bearerOf(secret, workspaceId, generation);
    return makeSandboxLink({ client, functionName, bearer, correlation }).fetch(sandbox, request);
  },
});

export const openSavedFiles = (
  { SANDBOX_LINK_FUNCTION: functionName }: Pick<Variables, 'SANDBOX_LINK_FUNCTION'>,
  { lambda: client, correlation }: Options,
): SavedFiles => makeSavedFiles({ client, functionName, correlation });
