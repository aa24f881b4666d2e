/** Time, randomness and waiting, as a port: use cases take them from nowhere else. */
export interface World {
  /** Epoch milliseconds. */
  now(): number;
  uuid(): string;
  /** SHA-256 in hexadecimal. */
  sha256(text: string): string;
  /** Ends early, without an error, when the signal is aborted. */
  sleep(milliseconds: number, signal?: AbortSignal): Promise<void>;
}
