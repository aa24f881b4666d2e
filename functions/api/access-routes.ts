/**
 * `/tokens`: created, listed, revoked. `/audit`: the rows of the audit log, the newest first, and all of them with their seals.
 */

import { Readable } from 'node:stream';
import type { StreamedResult } from '#shared/adapters/lambda/lambda-runtime.ts';
import type { CloseDeps } from '#shared/application/access/close-sockets-of-credential.ts';
import { type ExportDeps, exportAudit } from '#shared/application/access/export-audit.ts';
import { createToken, listTokens, revokeToken } from '#shared/application/access/manage-tokens.ts';
import type { AuditDeps, Deps } from '#shared/application/deps.ts';
import {
  auditAnswer,
  auditQuery,
  auditView,
  newTokenAnswer,
  tokenAnswer,
  tokensAnswer,
  tokenView,
} from '#shared/contracts/rest/access-view.ts';
import { createTokenBody, pageQuery } from '#shared/contracts/rest/bodies.ts';
import type { ProjectId } from '#shared/domain/ids.ts';
import { pageItemsMax } from '#shared/domain/limits.ts';
import { type ApiRoute, json, pathId, principalOf, queryOf } from './api-route.ts';
import { bodyOf } from './request-body.ts';

export const tokenRoutes = ({
  ports,
}: {
  readonly ports: AuditDeps & CloseDeps & Deps<'tokens' | 'projects' | 'grants'>;
}): readonly ApiRoute[] => [
  {
    method: 'POST',
    path: '/api/tokens',
    needs: 'admin',
    contract: {
      summary: 'Create a token; only this answer shows it',
      body: createTokenBody,
      answers: { 201: newTokenAnswer },
      errors: ['project_not_found'],
    },
    handler: async (event) => {
      const { record, token } = await createToken(ports, principalOf(event), bodyOf(event, createTokenBody));
      const { id, scope, name } = record;
      return json(201, { id, token, scope, name });
    },
  },
  {
    method: 'GET',
    path: '/api/tokens',
    needs: 'admin',
    contract: {
      summary: 'List the tokens, in masked form',
      query: pageQuery,
      answers: { 200: tokensAnswer },
    },
    handler: async (event) => {
      const { after } = queryOf(event, pageQuery);
      const page = { itemsMax: pageItemsMax, ...(after === undefined ? {} : { after }) };
      const { tokens, next } = await listTokens(ports, page);
      return json(200, { tokens: tokens.map(tokenView), ...(next === undefined ? {} : { next }) });
    },
  },
  {
    method: 'DELETE',
    path: '/api/tokens/{id}',
    needs: 'admin',
    contract: { summary: 'Revoke a token', answers: { 200: tokenAnswer }, errors: ['token_not_found'] },
    handler: async (event) =>
      json(200, tokenView(await revokeToken(ports, principalOf(event), pathId(event)))),
  },
];

export const auditRoutes = ({ ports }: { readonly ports: AuditDeps & ExportDeps }): readonly ApiRoute[] => [
  exportRoute(ports),
  {
    method: 'GET',
    path: '/api/audit',
    needs: 'admin:read',
    contract: {
      summary: 'Read the audit log, newest first',
      query: auditQuery,
      answers: { 200: auditAnswer },
    },
    handler: async (event) => {
      const { project, after } = queryOf(event, auditQuery);
      const { rows, ...rest } = await ports.auditLog.list({
        now: ports.world.now(),
        project: project as ProjectId | undefined,
        after,
        itemsMax: pageItemsMax,
      });
      return json(200, { rows: rows.map(auditView), ...rest });
    },
  },
];

const exportRoute = (ports: ExportDeps): ApiRoute => ({
  method: 'GET',
  path: '/api/audit/export',
  needs: 'admin:read',
  contract: {
    summary: 'Export the audit log with its seals and their public key, as JSON lines, oldest first',
    answers: { 200: 'bytes' },
    types: ['application/jsonl'],
  },
  handler: async () => {
    const lines = Readable.from(exportAudit(ports), { highWaterMark: 1 });
    return {
      statusCode: 200,
      headers: {
        'content-type': 'application/jsonl',
        'content-disposition': 'attachment; filename="audit.jsonl"',
        'cache-control': 'no-store',
      },
      body: Readable.toWeb(lines.map((line: string) => Buffer.from(line))) as StreamedResult['body'],
    };
  },
});
