/** The limits of the relay and of what passes through it, each with its unit. */

/** One frame, in bytes: a longer one ends the relay. */
export const relayFrameBytesMax = 1_048_576;
/** Data of one frame, in bytes: a larger piece is cut, so that streams share the relay. */
export const relayPieceBytesMax = 65_536;
/** Bytes that one end may send on a stream before the other has taken them. */
export const relayWindowBytes = 262_144;
/** Streams that are open at once in one sandbox. */
export const relayStreamsMax = 64;
/** Bytes on their way out of a sandbox; a sandbox with more takes no new stream. */
export const relayOutboxBytesMax = 8 * 1_048_576;
/** One request into a sandbox; as JSON it stays below the 6 MB of an invocation. */
export const relayBatchBytesMax = 4 * 1_048_576;
/** A stream waits this long for its answer, and for the next holder after a hand-over, in milliseconds. */
export const relayPairingMsMax = 60_000;
/** A stream waits this long for a holder while one is expected, in milliseconds: longer than a function takes to start. */
export const relayHolderMsMax = 20_000;
/** As above, for a minute after a wait in vain, while no holder has come, in milliseconds. */
export const relayInVainMs = 500;
export const relayInVainMemoryMs = 60_000;
/** The platform's next request of the same work comes within this time, in milliseconds: until then a holder is expected. */
export const relayHearerGapMs = 5000;
/** A request for the relay that was not delivered is added to the platform's next response for this long, in milliseconds: longer than between two sweeps. */
export const relayWishMs = 90_000;
/** A holder that is not heard from for this long is gone, in milliseconds. */
export const relaySilenceMsMax = 10_000;
/** One answer of a sandbox lasts this long; before the next the policy is read again, in milliseconds. */
export const relaySliceMs = 20_000;
/** A holder hands over this long before its function ends, in milliseconds. */
export const relayMarginMs = 45_000;

/** A request is made again so often when its holder goes. */
export const relayTakeUpsMax = 3;

/** One message of the relay's socket, in bytes with its line break, in each direction. */
export const relayLineBytesMax = 1_048_576;
/** Calls of the platform that one connection may have open at once. */
export const relayCallsMax = 16;
/** Connections to the relay's socket at once. */
export const relayClientsMax = 32;
/** A sandbox that wants a holder says so at this interval, in milliseconds, until it has one. */
export const relayWantedMs = 1000;

/** A ClientHello may have so many bytes, in several records, and come in so many pieces. */
export const clientHelloBytesMax = 32_768;
export const clientHelloPiecesMax = 64;
/** Entries of an allow-list, and characters of one. */
export const networkHostsMax = 100;
export const hostPatternCharactersMax = 260;
/** Rules of one network that put a secret into a header. */
export const injectRulesMax = 20;
/** Events `egress` that are written at once; further hosts are joined into one. */
export const egressEventsMax = 20;
/** Connections are joined into events at this interval, in milliseconds, and after many events at the longer one. */
export const egressFlushMs = 1000;
export const egressFlushMsMax = 30_000;
