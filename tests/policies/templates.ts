/**
 * The synthesised templates of the default stage. Infra is compiled under options of its own, so its module is named by
 * a value here and not by an import that the compiler follows.
 */
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import type { DeployedTemplate } from './template-values.ts';

type Infra = { readonly synthesise: () => Readonly<Record<string, DeployedTemplate>> };

const synthesiser = join(import.meta.dirname, '..', '..', 'infra', 'stacks', 'synthesise.ts');

export const defaultTemplates = async (): Promise<readonly DeployedTemplate[]> => {
  const { synthesise } = (await import(pathToFileURL(synthesiser).href)) as Infra;
  return Object.values(synthesise());
};
