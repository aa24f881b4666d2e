/**
 * Scenarios of the conformance suite that do not apply to our own server, and why: it has only tools, and none of the
 * suite's diagnostic ones. `fixture.test.ts` shows a handler's answers to them.
 */
export const inapplicable: readonly (readonly [why: string, scenarios: RegExp])[] = [
  ['calls a tool that only a fixture has', /^tools-call-|^input-required-result-|^json-schema-2020-12$/],
  ['calls a tool that only a fixture has, with an argument that is a header', /^http-custom-header-/],
  ['there are no prompts', /^prompts-/],
  ['there are no resources', /^resources-|^sep-2164-/],
  ['there is nothing to complete', /^completion-/],
  ['nothing is asked of clients', /^elicitation-/],
  ['long calls are answered as streams, not as tasks (an extension)', /^tasks-/],
];

/** Checks within scenarios that apply otherwise. */
export const untestable: Readonly<Record<string, string>> = {
  'caching:sep-2549-prompts-list-caching-hints': 'there are no prompts',
  'caching:sep-2549-resources-list-caching-hints': 'there are no resources',
  'caching:sep-2549-resources-templates-list-caching-hints': 'there are no resources',
  'server-stateless:sep-2575-server-rejects-undeclared-capability':
    'no tool needs a capability of its client',
  'server-stateless:sep-2575-missing-capability-http-400': 'no tool needs a capability of its client',
  'server-stateless:sep-2575-http-server-no-independent-requests-on-stream': 'calls a tool of the fixture',
  'server-stateless:sep-2575-server-no-log-without-loglevel': 'calls a tool of the fixture',
  'server-sse-multiple-streams:server-sse-multiple-streams-session': 'a warning: there are no sessions',
  'server-sse-polling:server-sse-polling-session': 'a warning: there are no sessions',
  'server-sse-polling:server-sse-priming-event': 'a warning: no stream can be taken up again',
  'server-sse-polling:server-sse-retry-field': 'a warning: no stream can be taken up again',
};
