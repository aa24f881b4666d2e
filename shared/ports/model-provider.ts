/**
 * A language model behind one door: an answer streams in chunks and closes with exactly one `end`.
 *
 * Failures are AppErrors: provider_not_configured, provider_auth_failed, provider_rate_limited,
 * provider_overloaded, provider_unavailable, context_too_long, content_refused.
 */
import type { ModelChunk, ModelRequest, ProviderName } from '../domain/model.ts';

export interface ModelProvider {
  stream(request: ModelRequest, signal: AbortSignal): AsyncIterable<ModelChunk>;
}

/** Gives a provider by its name; loads its SDK only then. Throws `provider_not_configured` without its key. */
export interface ModelProviders {
  open(provider: ProviderName): Promise<ModelProvider>;
}
