/** A sandbox's answer to `GET /relay/wanted-hosts`: the hosts that programs of a trial asked of its proxy, as `host:port`, and `models` or `platform`. */
import * as z from 'zod';

/** A host of 255 characters, and a port. */
const hostCharactersMax = 261;

export const wantedHostsAnswer = z.object({ hosts: z.array(z.string().max(hostCharactersMax)) });
