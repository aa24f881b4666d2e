import { mkdtempDisposableSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { deployCommand } from './deploy.ts';
import { emptyAccount, openMachine } from './fixtures/machine.ts';

const deploysOf = (calls: readonly string[]): readonly string[] =>
  calls.filter((call) => call.startsWith('cdk deploy'));

describe('a role of API Gateway’s logs that may not be read', () => {
  const refuses = { 'apigateway get-account': 'AccessDeniedException' };

  test('is not replaced by a first deploy, which asks for the setting', async () => {
    const machine = openMachine({ ...emptyAccount, refuses });
    const { code, error } = await machine.run(deployCommand, ['--yes']);
    expect([code, error]).toEqual([1, expect.stringContaining('ownsApiLogRole')]);
    expect(deploysOf(machine.calls)).toEqual([]);
  });

  test('is left alone where the settings say so, and by an upgrade', async () => {
    using folder = mkdtempDisposableSync(join(tmpdir(), 'sallyport-log-role-'));
    const path = join(folder.path, 'settings.json');
    writeFileSync(path, JSON.stringify({ ownsApiLogRole: false }));
    const machine = openMachine({ ...emptyAccount, refuses });
    expect((await machine.run(deployCommand, ['--yes', '--settings', path])).code).toBe(0);
    expect((await machine.run(deployCommand, ['--yes'])).code).toBe(0);
    expect(deploysOf(machine.calls).filter((call) => call.includes('SetsApiLogRole'))).toEqual([]);
  });
});
