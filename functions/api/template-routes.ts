/** `/templates`: lists the images that sandboxes can be started from: the platform's own, and those of the operator. */

import type { KnownTemplates } from '#shared/application/sandbox/known-template.ts';
import { templatesAnswer } from '#shared/contracts/rest/deployment-view.ts';
import { languageContents, languageOf, languages, type Template } from '#shared/domain/template.ts';
import { type ApiRoute, json } from './api-route.ts';

type Settings = {
  /** The template of sessions that name none. */
  readonly template: Template;
  readonly templates?: KnownTemplates;
};

export const templateRoutes = ({ settings }: { readonly settings: Settings }): readonly ApiRoute[] => [
  {
    method: 'GET',
    path: '/api/templates',
    needs: 'global:read',
    contract: { summary: 'List the templates of sandboxes', answers: { 200: templatesAnswer } },
    handler: async () => json(200, { templates: listed(settings) }),
  },
];

const listed = ({ template, templates: { named, problem } = { named: [] } }: Settings) => {
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
