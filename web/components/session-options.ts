/** Options of sessions that several pages offer: providers, sizes, templates and projects. */
import { computed } from 'vue';
import { api, type ProviderName } from '#sdk/routes.ts';
import { useLoad } from '../api/load.ts';
import { request } from '../api/request.ts';

export const providerNames: Readonly<Record<ProviderName, string>> = {
  anthropic: 'Anthropic',
  openai: 'OpenAI',
  gemini: 'Google Gemini',
  demo: 'Demo',
};
export const providers = Object.keys(providerNames) as ProviderName[];

/** Variables with the providers' keys. */
export const keyVariables: Readonly<Record<ProviderName, string | undefined>> = {
  anthropic: 'ANTHROPIC_API_KEY',
  openai: 'OPENAI_API_KEY',
  gemini: 'GEMINI_API_KEY',
  demo: undefined,
};

const options = (...values: readonly (readonly [string, string])[]) =>
  values.map(([value, label]) => ({ value, label }));

export const providerOptions = options(
  ...Object.entries({ ...providerNames, demo: 'Demo: no language model' }),
);

export const flavorOptions = options(
  ['micro', 'micro: ½ CPU, 512 MB'],
  ['small', 'small: 1 CPU, 1 GB'],
  ['medium', 'medium: 2 CPU, 2 GB'],
  ['large', 'large: 4 CPU, 4 GB'],
);

export const templateOptions = options(['python', 'Python'], ['node', 'Node.js']);

/** The projects of the token, their names, and a choice of one. */
export const useProjects = () => {
  const { value: projects, error } = useLoad(
    async (signal) => (await request(api.listProjects, {}, { signal })).projects,
  );
  return {
    projects,
    error,
    nameOf: (id: string): string | undefined => projects.value?.find((project) => project.id === id)?.name,
    options: computed(() => (projects.value ?? []).map(({ id, name }) => ({ value: id, label: name }))),
  };
};
