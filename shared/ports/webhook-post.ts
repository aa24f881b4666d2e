/** One signed request to a receiver: where it may go, how it is signed and what is read of the answer is decided here. */
export type SignedRequest = {
  readonly url: string;
  /** `whsec_` and base64. */
  readonly secret: string;
  /** The header `webhook-id`. */
  readonly id: string;
  /** The moment of the attempt, in epoch milliseconds. */
  readonly at: number;
  readonly body: string;
};

export interface WebhookPost {
  /** Never throws: `error` says why it was not accepted, `status` is there when there was an answer. */
  send(request: SignedRequest): Promise<{ readonly status?: number; readonly error?: string }>;
}

/** A new key of signatures, as its owner is told it. */
export interface SecretMaker {
  newSecret(): string;
}

/** Invokes the sender: a test is waited for, a change is not. */
export interface WebhookDispatcher {
  /** Sends a test now. */
  test(
    webhook: string,
    correlationId: string,
  ): Promise<{
    readonly ok: boolean;
    readonly status?: number | undefined;
    readonly durationMs: number;
    readonly error?: string | undefined;
  }>;
  /** Something is new with it: it was enabled, or it is gone. */
  dispatch(webhook: string, correlationId: string): Promise<void>;
}
