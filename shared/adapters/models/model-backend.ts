/** The interface of each provider's adapter: a model provider that also counts tokens and lists its models. */
import type { ListedModel } from '#shared/domain/model.ts';
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
