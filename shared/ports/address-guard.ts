/** The check of an address that a user registers: whether the functions may connect to it. */
export interface AddressGuard {
  /** Throws `invalid_request` for one that is private, loopback or link-local; a name without an address passes. */
  check(url: string): Promise<void>;
}
