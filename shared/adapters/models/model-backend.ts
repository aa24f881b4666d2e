/** The interface of each provider's adapter: a model provider that also counts tokens and lists its models; and what adapters share. */
import type { ListedModel } from '#shared/domain/model.ts';
import { AppError } from '#shared/errors.ts';
import type { ModelProvider } from '#shared/ports/models.ts';

export interface ModelBackend extends ModelProvider {
  listModels(): Promise<readonly ListedModel[]>;
  /** Checks one model, which may have names that no list shows. */
  hasModel(id: string): Promise<boolean>;
}

/** Until an answer begins, in milliseconds; after that, fetch ends a body that is silent for five minutes. */
export const answerStartMsMax = 120_000;
/** Milliseconds for a count, which must not delay the answer for long. */
export const countMsMax = 5000;
export const listMsMax = 10_000;
/** The longest list that is read. */
export const listedModelsMax = 1000;

/** The first items of an endpoint with pages. */
export const upTo = async <T>(items: AsyncIterable<T>, itemsMax: number): Promise<readonly T[]> => {
  const taken: T[] = [];
  for await (const item of items) {
    taken.push(item);
    if (taken.length === itemsMax) break;
  }
  return taken;
};

/** Ends the work if no answer begins in time: an SDK's own timeout would cut a long answer, too. */
export const startingInTime = async <T>(
  signal: AbortSignal | null | undefined,
  begin: (signal: AbortSignal) => Promise<T>,
): Promise<T> => {
  const late = new AbortController();
  const timer = setTimeout(
    () => late.abort(new DOMException('no answer began in time', 'TimeoutError')),
    answerStartMsMax,
  );
  try {
    return await begin(AbortSignal.any([late.signal, ...(signal ? [signal] : [])]));
  } finally {
    clearTimeout(timer);
  }
};

/** API keys that a header can carry. Any other is refused without being shown, since an HTTP error would quote it. */
export const headerSafe = (apiKey: string, variable: string): string => {
  const key = apiKey.trim();
  if (/^[\x21-\x7e]+$/.test(key)) return key;
  throw new AppError('provider_not_configured', `${variable} has characters that a key cannot contain`);
};
