import { describe, expect, test } from 'vitest';
import { localSettings, readVariables, type Variables } from './settings.ts';

const read = (variables: Variables) => readVariables(localSettings, variables);
const problemsOf = (variables: Variables): readonly string[] => {
  const result = read(variables);
  return result.ok ? [] : result.problems;
};

const defaults = {
  PORT: 4350,
  MAX_OUTPUT_TOKENS: 8192,
  MAX_HISTORY_TOKENS: 30_000,
  MAX_HISTORY_MESSAGES: 50,
  MAX_STEPS_PER_TURN: 50,
  HISTORY_TTL_SECONDS: 86_400,
  MAX_IDLE_TIME_MS: 900_000,
  MSB_DEFAULT_FLAVOR: 'small',
  MSB_DEFAULT_TEMPLATE: 'python',
};

test('with nothing set the defaults hold', () => {
  expect(read({})).toEqual({ ok: true, value: defaults });
});

test('an empty value counts as unset, and variables of others are not read', () => {
  const empty = Object.fromEntries(Object.keys(localSettings.shape).map((name) => [name, '']));
  expect(read({ ...empty, HOME: '/root' })).toEqual({ ok: true, value: defaults });
});

describe('numbers', () => {
  const bounds: [string, { min: number; max: number }][] = [
    ['PORT', { min: 0, max: 65_535 }],
    ['MAX_OUTPUT_TOKENS', { min: 256, max: 65_536 }],
    ['MAX_HISTORY_TOKENS', { min: 1000, max: 1_000_000 }],
    ['MAX_HISTORY_MESSAGES', { min: 2, max: 1000 }],
    ['MAX_STEPS_PER_TURN', { min: 1, max: 500 }],
    ['HISTORY_TTL_SECONDS', { min: 60, max: 31_536_000 }],
    ['MAX_IDLE_TIME_MS', { min: 1000, max: 86_400_000 }],
  ];

  test.each(bounds)(
    '%s takes its lowest and its highest value and refuses one beyond',
    (name, { min, max }) => {
      expect(read({ [name]: String(min) })).toEqual({ ok: true, value: { ...defaults, [name]: min } });
      expect(read({ [name]: String(max) })).toEqual({ ok: true, value: { ...defaults, [name]: max } });
      for (const beyond of [min - 1, max + 1])
        expect(problemsOf({ [name]: String(beyond) })).toEqual([
          `${name}="${beyond}" is not allowed: set it to a whole number from ${min} to ${max}`,
        ]);
    },
  );

  test.each(['1.5', '1e3', '0x10', ' 80', '80 ', 'eighty', 'NaN', '9'.repeat(400), '--1'])(
    '%j is no whole number',
    (value) => {
      expect(problemsOf({ PORT: value })).toHaveLength(1);
    },
  );
});

describe('choices', () => {
  test.each(['anthropic', 'claude', 'openai', 'chatgpt', 'gemini', 'google', 'demo'])(
    'LLM_PROVIDER may be %s',
    (provider) => {
      expect(read({ LLM_PROVIDER: provider })).toEqual({
        ok: true,
        value: { ...defaults, LLM_PROVIDER: provider },
      });
    },
  );

  test('a flavor may be written in any case', () => {
    expect(read({ MSB_DEFAULT_FLAVOR: 'LARGE' })).toEqual({
      ok: true,
      value: { ...defaults, MSB_DEFAULT_FLAVOR: 'large' },
    });
  });

  test.each([
    ['LLM_PROVIDER', 'anthropic, claude, openai, chatgpt, gemini, google, demo'],
    ['MSB_DEFAULT_FLAVOR', 'micro, small, medium, large'],
    ['MSB_DEFAULT_TEMPLATE', 'python, node'],
  ])('another %s is refused with the ones there are', (name, allowed) => {
    expect(problemsOf({ [name]: 'Other' })).toEqual([
      `${name}="Other" is not allowed: set it to one of ${allowed}`,
    ]);
  });
});

describe('texts', () => {
  test.each(['MODEL', 'ANTHROPIC_BASE_URL', 'SALLYPORT_HOME'])('%s has at most 2048 characters', (name) => {
    const longest = 'x'.repeat(2048);
    expect(read({ [name]: longest })).toEqual({ ok: true, value: { ...defaults, [name]: longest } });
    expect(problemsOf({ [name]: `${longest}x` })).toEqual([
      `${name}="${'x'.repeat(80)}" is not allowed: set it to a text of 1 to 2048 characters`,
    ]);
  });

  test('a token is sp_ and 64 hexadecimal digits', () => {
    const token = `sp_${'0a'.repeat(32)}`;
    expect(read({ SALLYPORT_TOKEN: token })).toEqual({
      ok: true,
      value: { ...defaults, SALLYPORT_TOKEN: token },
    });
  });
});

describe('what is said of a bad value', () => {
  test('a line break in a value does not break the line', () => {
    expect(problemsOf({ PORT: '80\nINFO all is well' })).toEqual([
      'PORT="80\\nINFO all is well" is not allowed: set it to a whole number from 0 to 65535',
    ]);
  });

  test('every bad variable has its line', () => {
    expect(problemsOf({ PORT: 'x', MAX_STEPS_PER_TURN: '0' })).toEqual([
      'PORT="x" is not allowed: set it to a whole number from 0 to 65535',
      'MAX_STEPS_PER_TURN="0" is not allowed: set it to a whole number from 1 to 500',
    ]);
  });

  test.each([
    ['SALLYPORT_TOKEN', 'sp_secret'],
    ['ANTHROPIC_API_KEY', 'secret'.repeat(400)],
    ['OPENAI_API_KEY', 'secret'.repeat(400)],
    ['GEMINI_API_KEY', 'secret'.repeat(400)],
  ])('the value of %s is never shown', (name, value) => {
    const [problem, ...others] = problemsOf({ [name]: value });
    expect(problem).toMatch(new RegExp(`^${name}=\\(hidden\\) is not allowed: set it to `));
    expect(problem).not.toContain('secret');
    expect(others).toEqual([]);
  });
});
