/** The messages of the runner that the server accepts. */
import { expect, test } from 'vitest';
import { parseRunnerMessage } from './runner-message.ts';

const log = (server: string) => parseRunnerMessage({ type: 'stdio-log', server });

test('W9: the name of a log line is one that an MCP server can have', () => {
  expect(log('git-hub_2')).toEqual({ type: 'stdio-log', server: 'git-hub_2' });
  const forged = ['', 'x\n', 'x\n\u001b[31mroot', 'x]', 'x y', '\u202ex', 'x'.repeat(65), 'naïve'];
  for (const name of forged) expect(() => log(name)).toThrow();
});
