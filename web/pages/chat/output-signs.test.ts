import { expect, test } from 'vitest';
import { lacksPackage, metRefusedHost } from './output-signs.ts';

test.each([
  ["Traceback (most recent call last):\nModuleNotFoundError: No module named 'sklearn'\nExit code: 1", true],
  ["Error: Cannot find module 'express'", true],
  ["Error [ERR_MODULE_NOT_FOUND]: Cannot find package 'express' imported from /workspace/a.mjs", true],
  ['ERROR: No matching distribution found for six', true],
  ['npm error code EAI_AGAIN', true],
  ["Error: Cannot find module './own.js'", false],
  ['ImportError: cannot import name x', false],
  ['all is well', false],
])('whether %j tells of a missing package', (output, lacks) => {
  expect(lacksPackage(output)).toBe(lacks);
});

test.each([
  ["fatal: unable to access 'https://a.org/': CONNECT tunnel failed, response 403", true],
  [
    'OSError: Tunnel connection failed: 403 a.org:443 is not among the hosts that this sandbox may reach: …',
    true,
  ],
  ['curl: (22) The requested URL returned error: 403', false],
])('whether %j tells of a refused host', (output, isRefused) => {
  expect(metRefusedHost(output)).toBe(isRefused);
});
