/**
 * The headers under which the web app is served, by CloudFront and by the embedded cloud alike.
 *
 * The app loads from its own origin alone and no page frames it. No script, style or font is inline; no text
 * becomes markup but by the policy of the view library, which is used for its own templates only. `'self'` covers
 * a WebSocket of the same origin (CSP Level 3, section 6.7.2.8).
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

/** A file whose name has a hash never changes; the page that names it is always revalidated. */
export const hashedFileCaching = 'public, max-age=31536000, immutable';
export const pageCaching = 'no-store';
