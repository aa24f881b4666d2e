/** Options of sessions that several pages offer: providers, sizes, templates and projects. */
import { computed } from 'vue';
import { api, type ProviderName } from '#sdk/routes.ts';
import { useLoad } from '../api/load.ts';
import { request } from '../api/request.ts';
import { allProjects } from '../api/whole-lists.ts';

export const providerNames: Readonly<Record<ProviderName, string>> = {
  anthropic: 'Anthropic',
  openai: 'OpenAI',
  gemini: 'Google Gemini',
  bedrock: 'Amazon Bedrock',
  demo: 'Demo',
};
/** A newer server may have others. */
export const providerName = (provider: string): string =>
  Object.hasOwn(providerNames, provider) ? providerNames[provider as ProviderName] : provider;
export const providers = Object.keys(providerNames) as ProviderName[];

/** Variables that make the providers usable: their keys, or the choice of one that has none. */
export const keyVariables: Readonly<Record<ProviderName, string | undefined>> = {
  anthropic: 'ANTHROPIC_API_KEY',
  openai: 'OPENAI_API_KEY',
  gemini: 'GEMINI_API_KEY',
  bedrock: 'LLM_PROVIDER=bedrock',
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

const ownTemplates = options(['python', 'Python'], ['node', 'Node.js']);

/** The templates of the deployment: the platform's own, and those that its settings name as soon as they are known. */
export const useTemplateOptions = () => {
  const { value: templates } = useLoad(
    async (signal) => (await request(api.listTemplates, {}, { signal })).templates,
  );
  const isOwn = (name: string): boolean => ownTemplates.some(({ value }) => value === name);
  return computed(() => {
    const named = (templates.value ?? []).filter(({ name }) => !isOwn(name));
    return [...ownTemplates, ...named.map(({ name }) => ({ value: name, label: name }))];
  });
};

export const approvalOptions = options(
  ['ask', 'ask: every call'],
  ['effect', 'effect: every call, after a trial'],
  ['low', 'low: all except reading'],
  ['medium', 'medium: all except reading, plain file writes, plain git and ending a process'],
  ['high', 'high: repeated calls and input to a process'],
  ['auto', 'auto: input to a process'],
);

export const thinkingOptions = options(
  ['off', 'off'],
  ['low', 'low'],
  ['medium', 'medium'],
  ['high', 'high'],
);

export const runtimeOptions = options(
  ['opencode', 'OpenCode, in the sandbox'],
  ['acp', 'an ACP agent of the template'],
);

/** The projects of the token, their names, and a choice of one. */
export const useProjects = () => {
  const { value: projects, error } = useLoad(allProjects);
  return {
    projects,
    error,
    nameOf: (id: string): string | undefined => projects.value?.find((project) => project.id === id)?.name,
    options: computed(() => (projects.value ?? []).map(({ id, name }) => ({ value: id, label: name }))),
  };
};
