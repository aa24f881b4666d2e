/** Requests to model providers in their own wires, with the operator's keys. */
import type { BrokerCall } from '../domain/broker/request.ts';

export interface BrokerWire {
  /**
   * Throws `provider_not_configured` without a key, `provider_unavailable` without an answer. The key is in no refusal that the
   * provider gives, and in no error.
   */
  send(call: Pick<BrokerCall, 'provider' | 'path' | 'body'>, signal: AbortSignal): Promise<Response>;
}
