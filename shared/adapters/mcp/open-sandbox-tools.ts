/** `SandboxTools` whose client of MCP is loaded by the first call. */
import type { SandboxLink, SandboxTools } from '#shared/ports/sandbox.ts';
import { loadOnce } from '../load-once.ts';

const loadTools = loadOnce(() => import('./sandbox-tools.ts'));

export const openSandboxTools = (link: SandboxLink): SandboxTools => {
  const load = loadOnce(async () => (await loadTools()).makeSandboxTools(link));
  return {
    call: async (call) => (await load()).call(call),
    callFor: async (call) => (await load()).callFor(call),
    cancel: async (sandbox, callKey) => (await load()).cancel(sandbox, callKey),
  };
};
