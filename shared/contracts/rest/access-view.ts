/**
 * Access as REST shows it: the caller's permissions by the matrix of access.ts, tokens, and rows of the audit log. A listed
 * token has neither its text nor its hash. The text of a new token or ticket is shown once.
 */
import * as z from 'zod';
import { mayUse, needs, projectOf } from '#shared/domain/access.ts';
import type { AuditRow } from '#shared/domain/audit.ts';
import { type AccessToken, deciderOf, type Principal } from '#shared/domain/principal.ts';
import { auditRowView } from '../audit-row.ts';
import { afterPage, givenUuid, iso } from '../fields.ts';

export const accessAnswer = z
  .object({
    scope: z.string().describe('Scope: admin, admin:ro, project:<uuid> or project:<uuid>:ro.'),
    project: z.uuid().optional().describe('Id of the project of a project scope.'),
    id: z.string().describe('Id of the token or the person, as the audit log names the actor.'),
    name: z.string().optional().describe('Name of the token, or of the person by the identity provider.'),
    isPerson: z.literal(true).optional().describe('Set for a person whom the identity provider names.'),
    may: z.array(z.enum(needs)).describe('Permissions of the scope, as routes name them in `x-needs`.'),
  })
  .meta({ id: 'Access' });

export const accessView = (principal: Principal): z.output<typeof accessAnswer> => {
  const { scope, name, isPerson } = principal;
  const project = projectOf(scope);
  return {
    scope,
    ...(project === undefined ? {} : { project }),
    id: deciderOf(principal).id,
    ...(name === undefined ? {} : { name }),
    ...(isPerson === undefined ? {} : { isPerson }),
    may: needs.filter((need) => mayUse({ scope }, need)),
  };
};

const scope = z.string().describe('Scope: admin, admin:ro, project:<uuid> or project:<uuid>:ro.');

export const tokenAnswer = z
  .object({
    id: z.uuid(),
    name: z.string(),
    scope,
    token: z.string().describe('The token, masked.'),
    createdAt: z.iso.datetime(),
    expiresAt: z.iso.datetime().optional(),
  })
  .meta({ id: 'Token' });

export const tokensAnswer = z.object({ tokens: z.array(tokenAnswer), next: z.string().optional() });

export const newTokenAnswer = z.object({ id: z.uuid(), token: z.string(), scope, name: z.string() });

export const ticketAnswer = z.object({ ticket: z.string(), expiresInSeconds: z.number().int() });

export const tokenView = ({
  id,
  name,
  scope,
  masked,
  createdAt,
  expiresAt,
}: AccessToken): z.output<typeof tokenAnswer> => ({
  id,
  name,
  scope,
  token: masked,
  createdAt: iso(createdAt),
  ...(expiresAt === undefined ? {} : { expiresAt: iso(expiresAt) }),
});

export const auditQuery = z.object({
  project: givenUuid.optional().describe('Id of the project whose actions are listed.'),
  after: afterPage,
});

const row = z
  .object({
    at: z.iso.datetime(),
    actor: z
      .string()
      .describe(
        'Id of the token or the person, the rule over effects that decided, or `janitor` for the platform.',
      ),
    actorKind: z.string().describe('Kind of actor: `token`, `person`, or `policy` for a rule.'),
    actorName: z.string().optional(),
    scope: z.string(),
    action: z.string().describe('Action, such as `approval.decide` or `token.create`.'),
    subject: z.string().describe('Id of the resource that was acted on.'),
    project: z.string().optional(),
    detail: z.record(z.string(), z.unknown()),
    chain: z
      .object({ index: z.number().int(), previous: z.string() })
      .optional()
      .describe('Of a decision: its number in its session, from 1, and the hash of the one before.'),
  })
  .meta({ id: 'AuditRow' });

export const auditAnswer = z.object({ rows: z.array(row), next: z.string().optional() });

export const auditView = (audited: AuditRow): z.output<typeof row> => auditRowView(audited);
