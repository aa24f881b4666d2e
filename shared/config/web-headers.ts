/**
 * The headers under which the web app is served, by CloudFront and by the embedded cloud alike.
 *
 * The app loads from its own origin alone and nothing frames it. No script, style or font is inline; no text becomes
 * markup but by the policy of the view library, which is asked for its own templates only. `'self'` covers a
 * WebSocket of the same origin (CSP Level 3, section 6.7.2.8).
 */
export const contentSecurityPolicy = [
  "default-src 'none'",
  "script-src 'self'",
  "style-src 'self'",
  "img-src 'self' data: blob:",
  "font-src 'self'",
  "connect-src 'self'",
  "base-uri 'none'",
  "form-action 'none'",
  "frame-ancestors 'none'",
  "require-trusted-types-for 'script'",
  'trusted-types vue',
].join('; ');

/** A name with a hash in it never means anything else; the page that names them is asked for anew. */
export const hashedFileCaching = 'public, max-age=31536000, immutable';
export const pageCaching = 'no-store';
