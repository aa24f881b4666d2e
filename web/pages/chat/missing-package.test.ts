import { expect, test } from 'vitest';
import { lacksPackage } from './missing-package.ts';

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
