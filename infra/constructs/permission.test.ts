import { describe, expect, test } from 'vitest';
import type { EnvironmentFor } from '#shared/config/environment.ts';
import { all, invoking, knowing, type Need, reading } from './permission.ts';

const table = knowing({ TABLE_NAME: 'table' });
const hash = knowing({ ADMIN_TOKEN_SHA256: 'a'.repeat(64) });

describe('needs', () => {
  test('add up to variables and permissions', () => {
    const target = { functionName: 'turn', functionArn: 'arn:turn' };
    expect(all(table, invoking('TURN_FUNCTION', target), reading('SANDBOX_SECRET', 'arn:secret'))).toEqual({
      variables: { TABLE_NAME: 'table', TURN_FUNCTION: 'turn', SANDBOX_SECRET: 'arn:secret' },
      statements: [
        { actions: ['lambda:InvokeFunction'], resources: ['arn:turn'] },
        { actions: ['secretsmanager:GetSecretValue'], resources: ['arn:secret'] },
      ],
    });
  });

  test('that miss a variable of the contract do not compile', () => {
    const complete: Need<Omit<EnvironmentFor<'authorizer'>, 'DEPLOYMENT'>> = all(table, hash);
    // @ts-expect-error: ADMIN_TOKEN_SHA256 is missing
    const incomplete: Need<Omit<EnvironmentFor<'authorizer'>, 'DEPLOYMENT'>> = all(table);
    expect(Object.keys(complete.variables)).toHaveLength(2);
    expect(Object.keys(incomplete.variables)).toHaveLength(1);
  });
});
