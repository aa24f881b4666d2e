/** The requests into sandboxes that run: one chunk, which the first run that finds no free slot loads. */
export { openSandboxLink } from '#shared/adapters/aws/open-sandbox-link.ts';
