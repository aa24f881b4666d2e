/** `AddressGuard` by the same check that every connection passes again: a name may resolve differently in between. */
import { isAppError } from '#shared/errors.ts';
import type { AddressGuard } from '#shared/ports/mcp-servers.ts';
import { checkAddress, type EgressSettings, parseUrl } from '../outbound/checked-address.ts';
import { within } from '../outbound/deadline.ts';

/** A resolver that takes longer decides nothing about the address. */
const lookupMsMax = 5000;

export const makeAddressGuard = (settings: EgressSettings): AddressGuard => ({
  check: async (text) => {
    const url = parseUrl(text);
    try {
      await within({ ms: lookupMsMax }, checkAddress(url, settings));
    } catch (error) {
      // A name that cannot be resolved now is resolved again at every connection.
      if (!isAppError(error) || error.code !== 'mcp_server_unavailable') throw error;
    }
  },
});
