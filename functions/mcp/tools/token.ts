/** `token`: access tokens created, listed masked, revoked; for admins. */

import { createToken, listTokens, revokeToken } from '#shared/application/access/manage-tokens.ts';
import { iso } from '#shared/contracts/fields.ts';
import {
  createTokenArguments,
  createTokenResult,
  listTokensArguments,
  listTokensResult,
  revokeTokenArguments,
  tokenResult,
} from '#shared/contracts/tools/token-tool.ts';
import { pageItemsMax } from '#shared/domain/limits.ts';
import type { AccessToken } from '#shared/domain/principal.ts';
import { defineAction, defineActionTool } from '../action-tool.ts';

const create = defineAction({
  needs: 'admin',
  input: createTokenArguments,
  output: createTokenResult,
  run: async ({ name, scope, expires_in_seconds: expiresInSeconds }, { ports, principal }) => {
    const made = await createToken(ports, principal, { name, scope, expiresInSeconds });
    return { id: made.record.id, token: made.token, scope: made.record.scope };
  },
});

const list = defineAction({
  needs: 'admin',
  input: listTokensArguments,
  output: listTokensResult,
  run: async ({ after }, { ports }) => {
    const page = { itemsMax: pageItemsMax, ...(after === undefined ? {} : { after }) };
    const { tokens, next } = await listTokens(ports, page);
    return { tokens: tokens.map(view), ...(next === undefined ? {} : { next }) };
  },
});

const revoke = defineAction({
  needs: 'admin',
  input: revokeTokenArguments,
  output: tokenResult,
  run: async ({ token_id: id }, { ports, principal }) => view(await revokeToken(ports, principal, id)),
});

export const token = defineActionTool({
  name: 'token',
  description: 'Manages access tokens. A new token is shown once.',
  actions: { create, list, revoke },
  annotations: { title: 'Manage access tokens', destructiveHint: true, openWorldHint: false },
});

const view = ({ id, name, scope, masked, createdAt, expiresAt }: AccessToken) => ({
  id,
  name,
  scope,
  token: masked,
  created_at: iso(createdAt),
  ...(expiresAt === undefined ? {} : { expires_at: iso(expiresAt) }),
});
