/** The templates that sandboxes can be started from, the log of a session's sandbox, and its ports that are leased for preview. */

import type { KnownTemplates } from '#shared/application/sandbox/known-template.ts';
import { leasePreviewPort, requirePreviewPort } from '#shared/application/sandbox/lease-preview-port.ts';
import { readLogs } from '#shared/application/sandbox/read-logs.ts';
import { iso } from '#shared/contracts/fields.ts';
import { leaseBody } from '#shared/contracts/rest/bodies.ts';
import { templatesAnswer } from '#shared/contracts/rest/deployment-view.ts';
import { logsAnswer, portAnswer, portsAnswer } from '#shared/contracts/rest/workspace-view.ts';
import { languageContents, languageOf, languages, type Template } from '#shared/domain/template.ts';
import {
  acquireForRequest,
  insideErrors,
  type SessionSandboxPorts,
  type SessionSandboxSettings,
} from './acquire-for-request.ts';
import { type ApiRoute, json } from './api-route.ts';
import { bodyOf } from './request-body.ts';
import { onSession } from './resource-route.ts';

export const sandboxRoutes = ({
  ports,
  settings,
}: {
  readonly ports: SessionSandboxPorts;
  readonly settings: SessionSandboxSettings;
}): readonly ApiRoute[] => [
  onSession(ports, {
    method: 'GET',
    path: '/api/sessions/{id}/logs',
    needs: 'own:read',
    contract: { summary: 'Read the logs of the sandbox', answers: { 200: logsAnswer } },
    handler: async (_event, { session }) => {
      const lines = await readLogs(ports, session);
      return json(200, {
        lines: lines.map(({ at, ...line }) => ({ at: iso(at), ...line })),
      });
    },
  }),
  onSession(ports, {
    method: 'GET',
    path: '/api/sessions/{id}/ports',
    needs: 'own:read',
    contract: { summary: 'List the leased ports', answers: { 200: portsAnswer } },
    handler: async (_event, { session }) => {
      const leased = (await ports.workspaces.get(session.workspace))?.sandbox?.ports ?? [];
      return json(200, { ports: leased.map((port) => portView(session.id, port)) });
    },
  }),
  onSession(ports, {
    method: 'POST',
    path: '/api/sessions/{id}/ports',
    needs: 'own:write',
    contract: {
      summary: 'Lease a port for preview',
      body: leaseBody,
      answers: { 201: portAnswer },
      errors: insideErrors,
    },
    handler: async (event, { session }) => {
      const { port: wanted } = bodyOf(event, leaseBody);
      requirePreviewPort(wanted);
      const acquired = await acquireForRequest(ports, { session, settings });
      const port = await leasePreviewPort(ports, acquired, wanted);
      return json(201, portView(session.id, port));
    },
  }),
];

const portView = (sessionId: string, port: number) => ({
  port,
  path: `/api/sessions/${sessionId}/ports/${port}/`,
});

type TemplateSettings = {
  /** The template of sessions that name none. */
  readonly template: Template;
  readonly templates?: KnownTemplates;
};

/** The platform's own images, and those of the operator. */
export const templateRoutes = ({
  settings,
}: {
  readonly settings: TemplateSettings;
}): readonly ApiRoute[] => [
  {
    method: 'GET',
    path: '/api/templates',
    needs: 'global:read',
    contract: { summary: 'List the templates of sandboxes', answers: { 200: templatesAnswer } },
    handler: async () => json(200, { templates: listed(settings) }),
  },
];

const listed = ({ template, templates: { named, problem } = { named: [] } }: TemplateSettings) => {
  const own = languages.map((name) => ({ name, ...languageContents[name] }));
  // Where an image comes from is the operator's.
  const more = named.map(({ name, description = '' }) => ({
    name,
    description,
    packages: [],
    ...(problem === undefined ? {} : { problem }),
  }));
  return [...own, ...more].map((each) => ({
    ...each,
    language: languageOf(each.name),
    isDefault: each.name === template,
  }));
};
