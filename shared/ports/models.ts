/** Language models: one interface to all providers, and the models that each offers. */
import type {
  ListedModel,
  ModelAvailability,
  ModelChunk,
  ModelRequest,
  ProviderName,
  TokenUsage,
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
  stream(request: ModelRequest, signal: AbortSignal, caller?: ModelCaller): AsyncIterable<ModelChunk>;
  /** Tokens of the request's input, where the provider counts them; gives up within seconds. */
  count?(request: ModelRequest, signal: AbortSignal): Promise<number>;
}

/** The caller's part while an answer is on its way. */
export type ModelCaller = {
  /** Absent: it may. */
  readonly mayResend?: MayResend | undefined;
  /**
   * Told the usage of the answer so far, each time that the provider has reported it. Before the end that is all of the input, and a part
   * of the output. A provider that reports with the end alone tells nothing before.
   */
  readonly onUsage?: ((usage: TokenUsage) => void) | undefined;
};

/** Asked before a request is sent again whose first sending may be charged for. */
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
