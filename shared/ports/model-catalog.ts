/**
 * Which models a provider has, as the provider itself says: nothing is tried out, nothing is listed by hand.
 *
 * Both throw `provider_not_configured` without the provider's key; `list` throws what the provider's own
 * endpoint failed with, in the codes of the model provider port. What was listed may be some minutes old.
 */
import type { ListedModel, ModelAvailability, ProviderName } from '../domain/model.ts';

export interface ModelCatalog {
  list(provider: ProviderName): Promise<readonly ListedModel[]>;
  /** Throws `invalid_request` for more ids than one check takes. */
  check(provider: ProviderName, ids: readonly string[]): Promise<Readonly<Record<string, ModelAvailability>>>;
}
