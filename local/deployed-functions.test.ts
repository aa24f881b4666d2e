/** The variables of the deployed functions: the operator's, and the values that one machine has in their place. */
import { expect, test } from 'vitest';
import { deployedFunctions, functionNamed, functionVariables } from './deployed-functions.ts';

const turnVariables = (variables: Readonly<Record<string, string | undefined>>) => {
  const deployed = deployedFunctions({
    entryOf: (name) => name,
    endpoints: {},
    variables: functionVariables({
      token: 'sp_test',
      sandboxSecret: 'x'.repeat(64),
      variables,
      connectionsUrl: 'http://127.0.0.1:1',
      limits: 'enforced',
    }),
  });
  return deployed.find(({ name }) => name === functionNamed('turn'))?.environment;
};

test.each([
  [undefined, '3600'],
  ['', '3600'],
  ['60', '60'],
])('TOOL_WAIT_SECONDS=%s is %s on one machine', (given, deployed) => {
  expect(turnVariables({ TOOL_WAIT_SECONDS: given })).toMatchObject({ TOOL_WAIT_SECONDS: deployed });
});
