/**
 * One signed request to a receiver: the adapter decides where it may go, how it is signed and how much of the
 * answer is read.
 */
export type SignedRequest = {
  readonly url: string;
  /** `whsec_` and base64. */
  readonly secret: string;
  /** The header `webhook-id`. */
  readonly id: string;
  /** The time of the attempt, in epoch milliseconds. */
  readonly at: number;
  readonly body: string;
};

export interface WebhookPost {
  /** Never throws: `error` is the reason of a refusal, `status` is there when there was an answer. */
  send(request: SignedRequest): Promise<{ readonly status?: number; readonly error?: string }>;
}

/** Makes a new signing key, in the form that its owner gets. */
export interface SecretMaker {
  newSecret(): string;
}

/** Invokes the sender: synchronously for a test, asynchronously after a change. */
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
  /** Reports a change of it: it was enabled or deleted. */
  dispatch(webhook: string, correlationId: string): Promise<void>;
}
