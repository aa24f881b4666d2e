/** What each provider's adapter is: a model provider that also counts tokens and knows its models. */
import type { ListedModel } from '#shared/domain/model.ts';
import type { ModelProvider } from '#shared/ports/model-provider.ts';

export interface ModelBackend extends ModelProvider {
  listModels(): Promise<readonly ListedModel[]>;
  /** Asks for one model, which may have names that no list shows. */
  hasModel(id: string): Promise<boolean>;
}

/** Until an answer begins, in milliseconds; after that, fetch ends a body that is silent for five minutes. */
export const answerStartMsMax = 120_000;
/** A count is worth less than the answer it delays. */
export const countMsMax = 5000;
export const listMsMax = 10_000;
/** A list is read to its end or to here. */
export const listedModelsMax = 1000;

/** The first of what an endpoint gives page by page. */
export const upTo = async <T>(items: AsyncIterable<T>, itemsMax: number): Promise<readonly T[]> => {
  const taken: T[] = [];
  for await (const item of items) {
    taken.push(item);
    if (taken.length === itemsMax) break;
  }
  return taken;
};
