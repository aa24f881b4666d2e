import { expect, test } from 'vitest';
import { toolTimeout } from './tool-timeout.ts';

test.each([
  [3600, 3600, { seconds: 3600 }],
  [60, 60, { seconds: 60 }],
  [61, 60, { problem: 'timeout: at most 60 seconds in this deployment' }],
  [30, 10, { seconds: 10 }],
  [3600, 86_400, { seconds: 3600 }],
  [3601, 86_400, { problem: 'timeout: at most 3600 seconds in this deployment' }],
  [11, 10, { problem: 'timeout: at most 10 seconds in this deployment' }],
])('%i s under a limit of %i s', (asked, max, expected) => {
  expect(toolTimeout(asked, max)).toEqual(expected);
});
