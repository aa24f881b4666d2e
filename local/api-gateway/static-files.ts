/**
 * The files of the web app, as a bucket behind CloudFront serves them.
 *
 * Only file types that a browser loads are served; any other path is 404. A path never leaves the folder.
 */
import { readFile } from 'node:fs/promises';
import type { ServerResponse } from 'node:http';
import { extname, join, normalize } from 'node:path';
import { contentSecurityPolicy, hashedFileCaching, pageCaching } from '#shared/config/web-headers.ts';

const contentTypes: Readonly<Record<string, string>> = {
  '.html': 'text/html; charset=utf-8',
  '.js': 'text/javascript; charset=utf-8',
  '.css': 'text/css; charset=utf-8',
  '.svg': 'image/svg+xml',
};

const securityHeaders = {
  'content-security-policy': contentSecurityPolicy,
  'x-content-type-options': 'nosniff',
  'referrer-policy': 'no-referrer',
};

/** Holds only files whose names have a hash of their content. */
const hashedFolder = '/assets/';

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
  const { bytes, type, caching } = found;
  response.writeHead(200, {
    ...securityHeaders,
    'content-type': type,
    'content-length': bytes.length,
    'cache-control': caching,
  });
  response.end(request.method === 'HEAD' ? undefined : bytes);
};

type FoundFile = { readonly bytes: Buffer; readonly type: string; readonly caching: string };

const findFile = async (
  root: string,
  { method, pathname }: StaticRequest,
): Promise<FoundFile | undefined> => {
  if (method !== 'GET' && method !== 'HEAD') return undefined;
  const path = decode(pathname === '/' ? '/index.html' : pathname);
  const type = path === undefined ? undefined : contentTypes[extname(path)];
  if (path === undefined || type === undefined || path.includes('\0')) return undefined;
  // `normalize` of an absolute path cannot climb over the root, so `..` ends at the folder.
  const normalized = normalize(path);
  const bytes = await readFile(join(root, normalized)).catch(() => undefined);
  if (bytes === undefined) return undefined;
  return { bytes, type, caching: normalized.startsWith(hashedFolder) ? hashedFileCaching : pageCaching };
};

const decode = (pathname: string): string | undefined => {
  try {
    return decodeURIComponent(pathname);
  } catch {
    return undefined;
  }
};
