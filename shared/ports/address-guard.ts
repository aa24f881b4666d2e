/** True when an address that a user registers is one the functions may connect to. */
export interface AddressGuard {
  /** Throws `invalid_request` for one that is private, loopback or link-local; a name that is unknown today passes. */
  check(url: string): Promise<void>;
}
