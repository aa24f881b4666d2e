/**
 * The files of the web app, as a bucket behind CloudFront serves them.
 *
 * Only kinds of files that a browser loads exist here; sources and settings beside them are not found. A
 * path is resolved below the folder or refused.
 */
import { readFile } from 'node:fs/promises';
import type { ServerResponse } from 'node:http';
import { extname, join, normalize } from 'node:path';

const contentTypes: Readonly<Record<string, string>> = {
  '.html': 'text/html; charset=utf-8',
  '.js': 'text/javascript; charset=utf-8',
  '.css': 'text/css; charset=utf-8',
  '.svg': 'image/svg+xml',
  '.png': 'image/png',
  '.ico': 'image/x-icon',
  '.woff2': 'font/woff2',
  '.webmanifest': 'application/manifest+json',
};

const securityHeaders = {
  'content-security-policy': "default-src 'self'; connect-src 'self' ws: wss:; frame-ancestors 'none'",
  'x-content-type-options': 'nosniff',
  'referrer-policy': 'no-referrer',
};

export type StaticRequest = { readonly method: string; readonly pathname: string };

export const answerFile = async (
  root: string,
  request: StaticRequest,
  response: ServerResponse,
): Promise<void> => {
  const found = await findFile(root, request);
  if (found === undefined) {
    response
      .writeHead(404, { ...securityHeaders, 'content-type': 'text/plain; charset=utf-8' })
      .end('Not found\n');
    return;
  }
  const { bytes, type } = found;
  response.writeHead(200, {
    ...securityHeaders,
    'content-type': type,
    'content-length': bytes.length,
    'cache-control': type.startsWith('text/html') ? 'no-store' : 'no-cache',
  });
  response.end(request.method === 'HEAD' ? undefined : bytes);
};

const findFile = async (
  root: string,
  { method, pathname }: StaticRequest,
): Promise<{ readonly bytes: Buffer; readonly type: string } | undefined> => {
  if (method !== 'GET' && method !== 'HEAD') return undefined;
  const path = decode(pathname === '/' ? '/index.html' : pathname);
  const type = path === undefined ? undefined : contentTypes[extname(path)];
  if (path === undefined || type === undefined || path.includes('\0')) return undefined;
  // An absolute path has nothing above it, so `..` ends at the folder itself.
  const file = join(root, normalize(path));
  const bytes = await readFile(file).catch(() => undefined);
  return bytes === undefined ? undefined : { bytes, type };
};

const decode = (pathname: string): string | undefined => {
  try {
    return decodeURIComponent(pathname);
  } catch {
    return undefined;
  }
};
