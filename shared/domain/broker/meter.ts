/**
 * The usage of an answer of a provider, read from its bytes as they pass: what it reports, and until then what its text stands for.
 *
 * An answer that breaks off has no report. Its output counts as its text, three characters a token, and its input as the request, four
 * bytes a token: nothing that was said goes uncounted.
 */
import type { TokenUsage } from '../model.ts';
import { type BrokerProvider, type Fields, objectOf } from './provider.ts';

export type Meter = {
  /** Pieces of the body, in their order. */
  readonly take: (text: string) => void;
  /** So far. */
  readonly usage: () => TokenUsage;
  /** The provider has said what it charges for. Until then `usage` is an estimate. */
  readonly isFinal: () => boolean;
};

type Report = { readonly usage: Partial<TokenUsage>; readonly isFinal: boolean };

const charactersPerToken = 3;
const requestBytesPerToken = 4;
/** Characters of an answer that are held until it can be read; more are counted by their length. */
const heldCharactersMax = 8_000_000;

export const openMeter = (
  provider: BrokerProvider,
  { isStreamed, requestBytes }: { readonly isStreamed: boolean; readonly requestBytes: number },
): Meter => {
  let held = '';
  let characters = 0;
  let reported: Partial<TokenUsage> = {};
  let isFinal = false;

  const hear = (event: Fields): void => {
    characters += spokenCharacters(spoken[provider](event));
    const report = reports[provider](event);
    if (report === undefined) return;
    reported = { ...reported, ...report.usage };
    isFinal ||= report.isFinal;
  };
  const hearLines = (): void => {
    const lines = held.split('\n');
    held = lines.pop() ?? '';
    for (const line of lines) {
      const event = line.startsWith('data:') ? objectIn(line.slice('data:'.length)) : undefined;
      if (event !== undefined) hear(event);
    }
  };
  const spokenUsage = (): TokenUsage => {
    const { inputTokens = Math.ceil(requestBytes / requestBytesPerToken), outputTokens = 0 } = reported;
    const spokenTokens = Math.ceil(characters / charactersPerToken);
    return {
      ...reported,
      inputTokens,
      outputTokens: isFinal ? outputTokens : Math.max(outputTokens, spokenTokens),
    };
  };
  return {
    take: (text) => {
      held += text;
      if (isStreamed) hearLines();
      if (held.length <= heldCharactersMax) return;
      characters += held.length;
      held = '';
    },
    usage: () => {
      if (!isStreamed && held !== '') {
        const answer = objectIn(held);
        if (answer === undefined) characters += held.length;
        else hear(answer);
        held = '';
      }
      return spokenUsage();
    },
    isFinal: () => isFinal,
  };
};

/** The part of an event, or of a whole answer, that carries what the model said. */
const spoken: Readonly<Record<BrokerProvider, (event: Fields) => unknown>> = {
  anthropic: ({ type, delta, content }) => (type === 'content_block_delta' ? delta : content),
  // Its last events repeat what those before them said.
  openai: ({ type, delta, choices, output }) =>
    typeof type === 'string' && type.endsWith('.delta') ? { delta } : [choices, output],
  gemini: ({ candidates }) => candidates,
};

const reports: Readonly<Record<BrokerProvider, (event: Fields) => Report | undefined>> = {
  anthropic: ({ type, message, usage: ofEvent }) => {
    const usage = objectOf(ofEvent) ?? objectOf(objectOf(message)?.['usage']);
    if (usage === undefined) return undefined;
    const cached = countOf(usage['cache_read_input_tokens']);
    const written = countOf(usage['cache_creation_input_tokens']);
    const plain = countOf(usage['input_tokens']);
    const input = plain === undefined ? undefined : plain + (cached ?? 0) + (written ?? 0);
    return {
      usage: usageOf({ input, output: countOf(usage['output_tokens']), cached, written }),
      isFinal: type !== 'message_start',
    };
  },
  openai: ({ usage: ofEvent, response }) => {
    const usage = objectOf(ofEvent) ?? objectOf(objectOf(response)?.['usage']);
    if (usage === undefined) return undefined;
    const details = objectOf(usage['prompt_tokens_details']) ?? objectOf(usage['input_tokens_details']);
    const input = countOf(usage['prompt_tokens']) ?? countOf(usage['input_tokens']);
    const output = countOf(usage['completion_tokens']) ?? countOf(usage['output_tokens']);
    const cached = countOf(details?.['cached_tokens']);
    const written = countOf(details?.['cache_write_tokens']);
    return {
      usage: usageOf({ input, output, cached, written }),
      isFinal: output !== undefined,
    };
  },
  gemini: ({ usageMetadata, candidates, promptFeedback }) => {
    const usage = objectOf(usageMetadata);
    if (usage === undefined) return undefined;
    const said = countOf(usage['candidatesTokenCount']);
    const thought = countOf(usage['thoughtsTokenCount']);
    const output = said === undefined && thought === undefined ? undefined : (said ?? 0) + (thought ?? 0);
    const input = countOf(usage['promptTokenCount']);
    const [first] = Array.isArray(candidates) ? candidates : [];
    // Its JSON leaves out a count of nothing: https://protobuf.dev/programming-guides/json/
    const isFinal =
      objectOf(first)?.['finishReason'] !== undefined ||
      objectOf(promptFeedback)?.['blockReason'] !== undefined;
    return {
      usage: usageOf({ input, output, cached: countOf(usage['cachedContentTokenCount']) }),
      isFinal,
    };
  },
};

type Counts = Readonly<Record<'input' | 'output', number | undefined>> & {
  readonly cached?: number | undefined;
  readonly written?: number | undefined;
};

const usageOf = ({ input, output, cached, written }: Counts): Partial<TokenUsage> => ({
  ...(input === undefined ? {} : { inputTokens: input }),
  ...(output === undefined ? {} : { outputTokens: output }),
  ...(cached === undefined ? {} : { cachedInputTokens: cached }),
  ...(written === undefined ? {} : { cacheWriteInputTokens: written }),
});

const countOf = (value: unknown): number | undefined =>
  typeof value === 'number' && Number.isFinite(value) && value >= 0 ? value : undefined;

/** The characters of all its texts: rather more than what was said than less. */
const spokenCharacters = (value: unknown): number => {
  if (typeof value === 'string') return value.length;
  if (Array.isArray(value)) return value.reduce((sum: number, one) => sum + spokenCharacters(one), 0);
  const fields = objectOf(value);
  return fields === undefined ? 0 : spokenCharacters(Object.values(fields));
};

const objectIn = (json: string): Fields | undefined => {
  try {
    return objectOf(JSON.parse(json));
  } catch {
    return undefined;
  }
};
