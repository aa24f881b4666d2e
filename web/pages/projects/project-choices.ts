/** Options of the project form. */
const byOperator = { value: '', label: 'Deployment default' } as const;

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
  { value: 'auto', label: 'Automatic: prefix when needed' },
  { value: 'prefix', label: 'Always: prefix with the server name' },
  { value: 'none', label: 'Only on conflicts' },
] as const;

export const approvalChoices = [
  byOperator,
  { value: 'ask', label: 'ask: every call' },
  { value: 'low', label: 'low: all except reading files' },
  { value: 'medium', label: 'medium: all except file access and plain git' },
  { value: 'high', label: 'high: only repeated calls' },
  { value: 'auto', label: 'auto: none' },
] as const;
