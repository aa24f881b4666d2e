/**
 * The template that a session or a project asks for by name: one of the platform's own, or one of the operator's.
 *
 * An unknown name is refused with the list of the known ones, and one of the operator's while no sandbox can start from it.
 */

import { languages, type NamedTemplate, type Template } from '../../domain/template.ts';
import { AppError } from '../../errors.ts';

export type KnownTemplates = {
  readonly named: readonly NamedTemplate[];
  /** The reason why no sandbox starts from one of these. */
  readonly problem?: string | undefined;
};

const none: KnownTemplates = { named: [] };

export const templateNames = ({ named }: KnownTemplates = none): readonly Template[] => [
  ...languages,
  ...named.map(({ name }) => name),
];

export const knownTemplate = (name: string, known: KnownTemplates = none): Template => {
  const names = templateNames(known);
  if (!names.includes(name))
    throw new AppError('unsupported_language', `template: use one of ${names.join(', ')}`, {
      suggestions: ['Leave out the template to use the default.', 'GET /api/templates lists them.'],
      recoveryActions: ['use_python_template', 'use_node_template'],
    });
  if (known.problem === undefined || languages.some((language) => language === name)) return name;
  throw new AppError('unsupported_language', `template: ${name} cannot be used: ${known.problem}`, {
    suggestions: [`Use one of ${languages.join(', ')}.`],
    recoveryActions: ['use_python_template', 'use_node_template'],
  });
};
