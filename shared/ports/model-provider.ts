/**
 * A language model behind one interface: an answer streams in chunks and closes with exactly one `end`.
 *
 * Failures are AppErrors: provider_not_configured, provider_auth_failed, provider_rate_limited,
 * provider_overloaded, provider_unavailable, context_too_long, content_refused, and invalid_request for a model
 * that does not exist. An aborted signal closes the connection and its reason is thrown as it is.
 */
import type { ModelChunk, ModelRequest, ProviderName } from '../domain/model.ts';

export interface ModelProvider {
  stream(request: ModelRequest, signal: AbortSignal): AsyncIterable<ModelChunk>;
  /** Tokens of the request's input, where the provider counts them; gives up within seconds. */
  count?(request: ModelRequest, signal: AbortSignal): Promise<number>;
}

/** Returns a provider by its name, and loads its SDK only then. Throws `provider_not_configured` without its key. */
export interface ModelProviders {
  open(provider: ProviderName): Promise<ModelProvider>;
}
