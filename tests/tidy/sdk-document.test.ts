/** The page of the client library against its classes: every method is named. */
import { expect, test } from 'vitest';
import { AgentSession } from '#sdk/agent-session.ts';
import { AgentSessions, Sallyport, Sandboxes } from '#sdk/sallyport.ts';
import { Sandbox } from '#sdk/sandbox.ts';
import { SandboxFiles } from '#sdk/sandbox-files.ts';
import { SandboxProcess, SandboxProcesses } from '#sdk/sandbox-processes.ts';
import { readRepository, repositoryFolder, textOf } from './repository.ts';

const page = textOf(readRepository(repositoryFolder), 'docs/sdk.md');

/** By the name before the dot; a method of a class without one may follow any, or stand alone. */
const classes = [
  ['sallyport', Sallyport],
  ['sandboxes', Sandboxes],
  ['sessions', AgentSessions],
  ['files', SandboxFiles],
  ['processes', SandboxProcesses],
  [undefined, Sandbox],
  [undefined, SandboxProcess],
  [undefined, AgentSession],
] as const;

const isNamed = (text: string, name: string, owner?: string): boolean =>
  new RegExp(owner === undefined ? `[\`.]${name}[(\`]` : `\\b${owner}\\.${name}\\b`).test(text);

const missingIn = (text: string): readonly string[] =>
  classes.flatMap(([owner, { name: className, prototype }]) =>
    Object.getOwnPropertyNames(prototype)
      .filter((name) => name !== 'constructor' && !isNamed(text, name, owner))
      .map((name) => `${className}.${name}`),
  );

test('every method of the library is named on its page', () => {
  expect(missingIn(page)).toEqual([]);
});

test('a method that is not named is found', () => {
  expect(missingIn(page.replaceAll(/\bretry\b/g, 'again'))).toEqual(['AgentSession.retry']);
});
