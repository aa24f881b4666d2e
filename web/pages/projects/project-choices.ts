/** What may be chosen for a project, in the text of whoever chooses. */
const byOperator = { value: '', label: "The operator's default" } as const;

export const providerChoices = [
  byOperator,
  { value: 'anthropic', label: 'Anthropic' },
  { value: 'openai', label: 'OpenAI' },
  { value: 'gemini', label: 'Gemini' },
  { value: 'demo', label: 'Demo: no language model' },
] as const;

export const flavorChoices = [
  byOperator,
  { value: 'micro', label: 'micro: ½ CPU, 512 MB' },
  { value: 'small', label: 'small: 1 CPU, 1 GB' },
  { value: 'medium', label: 'medium: 2 CPU, 2 GB' },
  { value: 'large', label: 'large: 4 CPU, 4 GB' },
] as const;

export const templateChoices = [
  byOperator,
  { value: 'python', label: 'Python' },
  { value: 'node', label: 'Node.js' },
] as const;

export const namespacingChoices = [
  { value: '', label: 'Default: automatic' },
  { value: 'auto', label: 'Automatic: a prefix when it is needed' },
  { value: 'prefix', label: "Always with the server's name before" },
  { value: 'none', label: 'Never, but where names clash' },
] as const;

export const approvalChoices = [
  byOperator,
  { value: 'ask', label: 'ask: every call' },
  { value: 'low', label: 'low: all but reading files' },
  { value: 'medium', label: 'medium: all but reading and writing files and plain git' },
  { value: 'high', label: 'high: only calls that repeat themselves' },
  { value: 'auto', label: 'auto: none' },
] as const;
