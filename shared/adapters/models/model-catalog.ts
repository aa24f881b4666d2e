/**
 * The models of each provider, from its own list; cached for five minutes, requested once at a time.
 *
 * A failed list is not cached. A model that no list shows is requested by itself: aliases are often unlisted.
 */
import type { ListedModel, ModelAvailability, ProviderName } from '#shared/domain/model.ts';
import { AppError, isAppError } from '#shared/errors.ts';
import type { ModelCatalog } from '#shared/ports/models.ts';
import type { ModelBackends } from './model-providers.ts';

type Held = { readonly models: Promise<readonly ListedModel[]>; readonly until: number };

const heldMsMax = 300_000;
const checkedModelsMax = 20;
/** Anything else names no model, and must not become a part of a provider's URL. */
const modelId = /^[a-zA-Z0-9](?:[a-zA-Z0-9_:/@-]|\.(?!\.)){0,199}$/;

/** `now` is epoch milliseconds. */
export const makeModelCatalog = (backends: ModelBackends, now: () => number = Date.now): ModelCatalog => {
  const held = new Map<ProviderName, Held>();

  const list = async (provider: ProviderName): Promise<readonly ListedModel[]> => {
    const known = held.get(provider);
    if (known !== undefined && now() < known.until) return known.models;
    const asked: Held = {
      models: backends.open(provider).then((backend) => backend.listModels()),
      until: now() + heldMsMax,
    };
    held.set(provider, asked);
    try {
      return await asked.models;
    } catch (error) {
      if (held.get(provider) === asked) held.delete(provider);
      throw error;
    }
  };

  const availability = async (provider: ProviderName, id: string): Promise<ModelAvailability> => {
    if (!modelId.test(id)) return 'not_found';
    try {
      if ((await list(provider)).some((model) => model.id === id)) return 'available';
      const backend = await backends.open(provider);
      return (await backend.hasModel(id)) ? 'available' : 'not_found';
    } catch (error) {
      return `error: ${isAppError(error) ? error.message : 'the check failed on our side'}`;
    }
  };

  return {
    list,
    check: async (provider, ids) => {
      const distinct = [...new Set(ids)];
      if (distinct.length > checkedModelsMax)
        throw new AppError('invalid_request', `at most ${checkedModelsMax} models are checked at once`);
      // Without a key there is nothing to check, which is no property of a model.
      await backends.open(provider);
      const found = await Promise.all(
        distinct.map(async (id) => [id, await availability(provider, id)] as const),
      );
      return Object.fromEntries(found);
    },
  };
};
