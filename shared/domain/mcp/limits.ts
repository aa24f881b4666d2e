/** What bounds the registry of MCP servers. The table is in docs/spec/mcp-registry.md. */

/** Servers of one project. */
export const mcpServersPerProjectMax = 20;
/** Length of a server's name. */
export const mcpNameCharactersMax = 64;
/** Bytes of one server's configuration as JSON. */
export const mcpConfigBytesMax = 16 * 1024;
/** Tools that are kept of one server. */
export const mcpToolsMax = 100;
/** Bytes of those tools as JSON: they share an item of the table (400 KB) with the configuration. */
export const mcpToolBytesMax = 256 * 1024;
/** Length of an offered name: what every provider takes. */
export const toolNameCharactersMax = 64;
/** Length of a prefix, so that a tool's own name has room beside it. */
export const toolPrefixCharactersMax = 32;
/** Headers, variables and arguments of one server, each. */
export const mcpEntriesMax = 50;
export const mcpEntryNameCharactersMax = 128;
export const mcpEntryCharactersMax = 4096;
export const mcpTextCharactersMax = 2048;
/** One call of a server, in milliseconds: what may be asked for, and what it is when nothing is. */
export const mcpCallMsMin = 100;
export const mcpCallMsMax = 300_000;
export const mcpCallMs = 30_000;
/** One check: connecting and listing the tools, in milliseconds. */
export const mcpCheckMsMax = 5000;
/** Starting a server in a sandbox and listing its tools, in seconds. */
export const mcpInsideSeconds = 60;
/** Failures in a row that open the breaker. */
export const mcpBreakerFailures = 3;
/** Attempts to reconnect before a server is given up. */
export const mcpReconnectsMax = 5;
/** Before the first of them, in milliseconds; each further one waits twice as long. */
export const mcpReconnectMs = 5000;
/** Bytes of the error that is kept of a server. */
export const mcpErrorBytesMax = 500;
/** The time that one sweep stays for servers that are tried again soon, in seconds: less than until the next. */
export const mcpSweepSecondsMax = 50;
/** A check that was begun keeps others off for so long, in milliseconds: whoever began it may have died. */
export const mcpClaimMs = 30_000;
/** Servers one sweep reads at once, and checks at once. */
export const mcpDueMax = 100;
export const mcpChecksAtOnceMax = 20;
/** A change that meets another is tried again so often. */
export const mcpChangeTriesMax = 5;
