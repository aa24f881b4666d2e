import { describe, expect, test } from 'vitest';
import type { EnvironmentFor } from '#shared/config/environment.ts';
import { combine, env, invoke, type Permission, readSecret } from './permission.ts';

const table = env({ TABLE_NAME: 'table' });
const hash = env({ ADMIN_TOKEN_SHA256: 'a'.repeat(64) });

describe('permissions', () => {
  test('add up to variables and statements', () => {
    const target = { functionName: 'turn', functionArn: 'arn:turn' };
    expect(
      combine(table, invoke('TURN_FUNCTION', target), readSecret('SANDBOX_SECRET', 'arn:secret')),
    ).toEqual({
      variables: { TABLE_NAME: 'table', TURN_FUNCTION: 'turn', SANDBOX_SECRET: 'arn:secret' },
      statements: [
        { actions: ['lambda:InvokeFunction'], resources: ['arn:turn'] },
        { actions: ['secretsmanager:GetSecretValue'], resources: ['arn:secret'] },
      ],
    });
  });

  test('that lack a variable of the contract do not compile', () => {
    const complete: Permission<Omit<EnvironmentFor<'authorizer'>, 'DEPLOYMENT'>> = combine(table, hash);
    // @ts-expect-error: ADMIN_TOKEN_SHA256 is missing
    const incomplete: Permission<Omit<EnvironmentFor<'authorizer'>, 'DEPLOYMENT'>> = combine(table);
    expect(Object.keys(complete.variables)).toHaveLength(2);
    expect(Object.keys(incomplete.variables)).toHaveLength(1);
  });
});
