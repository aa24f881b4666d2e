/** Language models: one interface to all providers, and the models that each offers. */
import type {
  ListedModel,
  ModelAvailability,
  ModelChunk,
  ModelRequest,
  ProviderName,
} from '../domain/model.ts';

/**
 * A language model behind one interface: an answer streams in chunks and closes with exactly one `end`.
 *
 * Failures are AppErrors: provider_not_configured, provider_auth_failed, provider_rate_limited,
 * provider_overloaded, provider_unavailable, context_too_long, content_refused, and invalid_request for a model
 * that does not exist or a tool that it does not take. One that was refused before an answer began says so (`isUncharged`). An aborted signal closes the connection
 * and its reason is thrown as it is.
 */
export interface ModelProvider {
  stream(request: ModelRequest, signal: AbortSignal, mayResend?: MayResend): AsyncIterable<ModelChunk>;
  /** Tokens of the request's input, where the provider counts them; gives up within seconds. */
  count?(request: ModelRequest, signal: AbortSignal): Promise<number>;
}

/** Asked before a request is sent again whose first sending may be charged for; absent: it may. */
export type MayResend = () => Promise<boolean>;

/** Returns a provider by its name, and loads its SDK only then. Throws `provider_not_configured` without its key. */
export interface ModelProviders {
  open(provider: ProviderName): Promise<ModelProvider>;
}

/**
 * The models of each provider, by the provider's own list: none is tried, none is listed by hand.
 *
 * Both throw `provider_not_configured` without the provider's key; `list` throws the failures of the provider's
 * endpoint, in the codes of the model provider port. A list may be some minutes old.
 */
export interface ModelCatalog {
  list(provider: ProviderName): Promise<readonly ListedModel[]>;
  /** Throws `invalid_request` for more ids than one check takes. */
  check(provider: ProviderName, ids: readonly string[]): Promise<Readonly<Record<string, ModelAvailability>>>;
}
