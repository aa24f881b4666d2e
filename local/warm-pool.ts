/**
 * Decides how many warm sandboxes this machine keeps: one for executions and one for agents, so that a first command waits for no
 * start. Where memory is short there are none. The operator's own `POOL_SIZE` stands.
 */
import type { Variables } from '#shared/config/read-variables.ts';

const gigabyte = 1024 ** 3;
/** Of the whole machine; both sandboxes together take about 120 MB. */
const memoryMin = 4 * gigabyte;
const warmSandboxes = 2;

export const withPool = (variables: Variables, memoryBytes: number): Variables => {
  if (variables['POOL_SIZE']) return variables;
  return { ...variables, POOL_SIZE: String(memoryBytes < memoryMin ? 0 : warmSandboxes) };
};
