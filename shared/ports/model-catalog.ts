/**
 * The models of each provider, by the provider's own list: none is tried, none is listed by hand.
 *
 * Both throw `provider_not_configured` without the provider's key; `list` throws the failures of the provider's
 * endpoint, in the codes of the model provider port. A list may be some minutes old.
 */
import type { ListedModel, ModelAvailability, ProviderName } from '../domain/model.ts';

export interface ModelCatalog {
  list(provider: ProviderName): Promise<readonly ListedModel[]>;
  /** Throws `invalid_request` for more ids than one check takes. */
  check(provider: ProviderName, ids: readonly string[]): Promise<Readonly<Record<string, ModelAvailability>>>;
}
