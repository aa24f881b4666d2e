/** The limits of the registry of MCP servers. The table is in docs/spec/mcp-registry.md. */

/** Servers of one project. */
export const mcpServersPerProjectMax = 20;
/** Length of a server's name. */
export const mcpNameCharactersMax = 64;
/** Bytes of one server's configuration as JSON. */
export const mcpConfigBytesMax = 16 * 1024;
/** Tools stored of one server. */
export const mcpToolsMax = 100;
/** Bytes of those tools as JSON: they share an item of the table (400 KB) with the configuration. */
export const mcpToolBytesMax = 256 * 1024;
/** Characters of an offered name: every provider takes so many. */
export const offeredNameCharactersMax = 64;
/** Length of a prefix, so that a tool's own name has room beside it. */
export const toolPrefixCharactersMax = 32;
/** Headers, variables and arguments of one server, each. */
export const mcpEntriesMax = 50;
export const mcpEntryNameCharactersMax = 128;
export const mcpEntryCharactersMax = 4096;
export const mcpTextCharactersMax = 2048;
/** Bounds of the timeout of one call of a server, in milliseconds, and its default. */
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
/** The pause before the first of them, in milliseconds; each further one is twice as long. */
export const mcpReconnectMs = 5000;
/** Bytes of the error that is stored of a server. */
export const mcpErrorBytesMax = 500;
/** The time for which one sweep waits for servers that are retried soon, in seconds: it ends before the next. */
export const mcpSweepSecondsMax = 50;
/** The time for which a check that has begun excludes others, in milliseconds: its function may have died. */
export const mcpClaimMs = 30_000;
/** Servers one sweep reads at once, and checks at once. */
export const mcpDueMax = 100;
export const mcpChecksAtOnceMax = 20;
