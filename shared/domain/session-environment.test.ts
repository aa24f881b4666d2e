import { expect, test } from 'vitest';
import { isPlatformVariable, isVariableName } from './session-environment.ts';

test('a variable has the name of one, and not one of the platform', () => {
  for (const name of ['A', '_x1', 'a'.repeat(128)]) expect(isVariableName(name)).toBe(true);
  for (const name of ['', '1A', 'A-B', 'A=B', 'Ä', 'a'.repeat(129)]) expect(isVariableName(name)).toBe(false);
  for (const name of ['PATH', 'HOME', 'GIT_CONFIG_COUNT', 'http_proxy', 'HTTPS_PROXY', 'SALLYPORT_X'])
    expect(isPlatformVariable(name)).toBe(true);
  for (const name of ['path', 'PATHS', 'API_KEY', 'sallyport_x'])
    expect(isPlatformVariable(name)).toBe(false);
});
