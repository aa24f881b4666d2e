import { describe, expect, test } from 'vitest';
import { readVariables, type Variables } from './read-variables.ts';
import { localSettings } from './settings.ts';

const read = (variables: Variables) => readVariables(localSettings, variables);
const problemsOf = (variables: Variables): readonly string[] => {
  const result = read(variables);
  return result.ok ? [] : result.problems;
};

const defaults = {
  PORT: 4350,
  SALLYPORT_INSTALL_PACKAGES: true,
  SALLYPORT_SWEEP_SECONDS: 60,
  MAX_OUTPUT_TOKENS: 8192,
  MAX_HISTORY_TOKENS: 30_000,
  MAX_HISTORY_MESSAGES: 50,
  MAX_STEPS_PER_TURN: 50,
  MAX_COST_USD: 10,
  MAX_RECURSION_DEPTH: 3,
  MAX_AGENTS_PER_SESSION: 50,
  TURN_LEASE_SECONDS: 30,
  MAX_TOOL_SECONDS: 3600,
  TOOL_WAIT_SECONDS: 300,
  RATE_LIMIT_PER_SECOND: 10,
  RATE_LIMIT_BURST: 20,
  ENABLE_CONVERSATION_COMPRESSION: false,
  ANTHROPIC_AUTH: 'key',
  OPENAI_API: 'responses',
  HISTORY_TTL_SECONDS: 86_400,
  PAUSED_TTL_SECONDS: 604_800,
  WAIT_STOP_SECONDS: 120,
  MAX_IDLE_TIME_MS: 900_000,
  MSB_SESSION_TIMEOUT_SECONDS: 1800,
  MSB_DEFAULT_FLAVOR: 'small',
  MSB_DEFAULT_TEMPLATE: 'python',
  MSB_MAX_SESSIONS: 10,
  MAX_AGENT_SLOTS: 10,
  MAX_CONVERSATIONS: 10_000,
  MSB_EVICT_IDLE: true,
  MAX_SNAPSHOTS: 100,
  OIDC_SCOPE_CLAIM: 'sallyport_scope',
  OIDC_LOGIN_SCOPES: 'openid profile email',
  SIGN_IN_SECONDS: 28_800,
  MCP_AUTHORIZATION_SERVER: 'issuer',
  POOL_SIZE: 0,
  MSB_SHARED_VOLUME_GUEST_PATH: '/shared',
  MCP_ALLOWED_PRIVATE_HOSTS: [],
  MCP_CHECK_SECONDS: 60,
  EGRESS_ALLOWED_PRIVATE_HOSTS: [],
  MAX_EGRESS_MB: 10_000,
  RELAY_IDLE_SECONDS: 30,
  WEBHOOK_ALLOWED_PRIVATE_HOSTS: [],
  WEBHOOK_RETRY_SECONDS: 5,
  SYNTHETIC_CHECK: true,
};

test('with nothing set the defaults hold', () => {
  expect(read({})).toEqual({ ok: true, value: defaults });
});

test('an empty value counts as unset, and other variables are not read', () => {
  const empty = Object.fromEntries(Object.keys(localSettings.shape).map((name) => [name, '']));
  expect(read({ ...empty, HOME: '/root' })).toEqual({ ok: true, value: defaults });
});

test('EGRESS_ALLOW is a list of hosts, or a star alone', () => {
  const hosts = { EGRESS_ALLOW: 'a.org, *.b.org:443' };
  expect(read(hosts)).toMatchObject({ value: { EGRESS_ALLOW: ['a.org', '*.b.org:443'] } });
  expect(read({ EGRESS_ALLOW: '*' })).toMatchObject({ value: { EGRESS_ALLOW: 'any host' } });
  for (const value of ['*,a.org', '*:443', 'any host', '*.'])
    expect(problemsOf({ EGRESS_ALLOW: value })).toEqual([expect.stringMatching(/or \* for any host$/)]);
});

describe('MODEL_PRICES', () => {
  const tooMany = Object.fromEntries(
    Array.from({ length: 201 }, (_, index) => [`demo/${index}`, { input: 1, output: 1 }]),
  );

  test.each([
    '{"anthropic/x":{"input":20000,"output":1}}',
    '{"anthropic/x":{"input":-1,"output":1}}',
    '{"anthropic/x":{"input":1}}',
    '{"anthropic/x":{"input":1,"output":1,"other":1}}',
    '{"":{"input":1,"output":1}}',
    '[]',
    'none',
    JSON.stringify(tooMany),
  ])('%.60s is refused with one line', (value) => {
    expect(problemsOf({ MODEL_PRICES: value })).toEqual([
      expect.stringMatching(/^MODEL_PRICES=.* is not allowed: set it to JSON such as .* from 0 to 10000$/),
    ]);
  });

  test('of every provider is accepted, and of a model alone', () => {
    const value = '{"anthropic/x":{"input":10000,"output":0,"cached":1},"demo":{"input":0,"output":0}}';
    expect(read({ MODEL_PRICES: value })).toEqual({ ok: true, value: { ...defaults, MODEL_PRICES: value } });
  });
});

describe('numbers', () => {
  const bounds: [string, { min: number; max: number }][] = [
    ['PORT', { min: 0, max: 65_535 }],
    ['MAX_OUTPUT_TOKENS', { min: 256, max: 65_536 }],
    ['MAX_HISTORY_TOKENS', { min: 1, max: 1_000_000 }],
    ['MAX_HISTORY_MESSAGES', { min: 1, max: 1000 }],
    ['MAX_STEPS_PER_TURN', { min: 1, max: 500 }],
    ['MAX_RECURSION_DEPTH', { min: 0, max: 10 }],
    ['MAX_AGENTS_PER_SESSION', { min: 1, max: 1000 }],
    ['TURN_LEASE_SECONDS', { min: 3, max: 300 }],
    ['MAX_TOOL_SECONDS', { min: 1, max: 86_400 }],
    ['TOOL_WAIT_SECONDS', { min: 1, max: 3600 }],
    ['MCP_CHECK_SECONDS', { min: 1, max: 3600 }],
    ['WEBHOOK_RETRY_SECONDS', { min: 1, max: 60 }],
    ['RATE_LIMIT_PER_SECOND', { min: 1, max: 10_000 }],
    ['RATE_LIMIT_BURST', { min: 1, max: 20_000 }],
    ['HISTORY_TTL_SECONDS', { min: 1, max: 31_536_000 }],
    ['MAX_IDLE_TIME_MS', { min: 1000, max: 86_400_000 }],
    ['MSB_SESSION_TIMEOUT_SECONDS', { min: 60, max: 86_400 }],
    ['MSB_MAX_SESSIONS', { min: 1, max: 100 }],
    ['MAX_AGENT_SLOTS', { min: 1, max: 1000 }],
    ['MAX_CONVERSATIONS', { min: 1, max: 1_000_000 }],
    ['PAUSED_TTL_SECONDS', { min: 1, max: 31_536_000 }],
    ['WAIT_STOP_SECONDS', { min: 1, max: 86_400 }],
    ['MAX_SNAPSHOTS', { min: 1, max: 1000 }],
    ['POOL_SIZE', { min: 0, max: 100 }],
    ['SALLYPORT_SWEEP_SECONDS', { min: 1, max: 3600 }],
  ];

  test.each(bounds)(
    '%s accepts its lowest and its highest value and refuses one beyond',
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
    '%j is not a whole number',
    (value) => {
      expect(problemsOf({ PORT: value })).toHaveLength(1);
    },
  );

  test.each([
    ['0', 0],
    ['0.05', 0.05],
    ['100000', 100_000],
  ])('MAX_COST_USD may be %s', (value, usd) => {
    expect(read({ MAX_COST_USD: value })).toEqual({ ok: true, value: { ...defaults, MAX_COST_USD: usd } });
  });

  test.each(['-1', '100000.01', '.5', '1.', '1e3', '$1'])('MAX_COST_USD is not %j', (value) => {
    expect(problemsOf({ MAX_COST_USD: value })).toEqual([
      `MAX_COST_USD="${value}" is not allowed: set it to a number from 0 to 100000`,
    ]);
  });
});

test('requests to Anthropic that are signed need a workspace', () => {
  const signed = { ANTHROPIC_AUTH: 'iam' };
  expect(problemsOf(signed)).toEqual([
    'ANTHROPIC_AWS_WORKSPACE_ID is required with ANTHROPIC_AUTH=iam: set it to a text of 1 to 2048 characters',
  ]);
  expect(problemsOf({ ...signed, ANTHROPIC_AWS_WORKSPACE_ID: 'wrkspc_1' })).toEqual([]);
  expect(problemsOf({ ANTHROPIC_AUTH: 'key' })).toEqual([]);
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

  test.each([
    ['true', true],
    ['false', false],
  ])('ENABLE_CONVERSATION_COMPRESSION may be %s', (value, expected) => {
    expect(read({ ENABLE_CONVERSATION_COMPRESSION: value })).toEqual({
      ok: true,
      value: { ...defaults, ENABLE_CONVERSATION_COMPRESSION: expected },
    });
  });

  test('a switch is true or false', () => {
    expect(problemsOf({ ENABLE_CONVERSATION_COMPRESSION: '1' })).toEqual([
      'ENABLE_CONVERSATION_COMPRESSION="1" is not allowed: set it to true or false',
    ]);
  });

  test('a flavor may be written in any case', () => {
    expect(read({ MSB_DEFAULT_FLAVOR: 'LARGE' })).toEqual({
      ok: true,
      value: { ...defaults, MSB_DEFAULT_FLAVOR: 'large' },
    });
  });

  test('the default template may be one of the deployment, and must be one that there is', () => {
    const SANDBOX_TEMPLATES = '[{"name": "science", "image": "example.org/science:7"}]';
    expect(problemsOf({ SANDBOX_TEMPLATES, MSB_DEFAULT_TEMPLATE: 'science' })).toEqual([]);
    const refused =
      'MSB_DEFAULT_TEMPLATE="sience" is not allowed: set it to one of python, node, or a name of SANDBOX_TEMPLATES';
    expect(problemsOf({ SANDBOX_TEMPLATES, MSB_DEFAULT_TEMPLATE: 'sience' })).toEqual([refused]);
    expect(problemsOf({ MSB_DEFAULT_TEMPLATE: 'sience' })).toEqual([refused]);
  });

  test.each([
    ['LLM_PROVIDER', 'anthropic, claude, openai, chatgpt, gemini, google, bedrock, demo'],
    ['MSB_DEFAULT_FLAVOR', 'micro, small, medium, large'],
    ['MSB_DEFAULT_TEMPLATE', 'python, node, or a name of SANDBOX_TEMPLATES'],
  ])('another %s is refused with the valid ones', (name, allowed) => {
    expect(problemsOf({ [name]: 'Other' })).toEqual([
      `${name}="Other" is not allowed: set it to one of ${allowed}`,
    ]);
  });
});

describe('texts', () => {
  test.each(['MODEL', 'SALLYPORT_HOME', 'MSB_SHARED_VOLUME_PATH'])(
    '%s has at most 2048 characters',
    (name) => {
      const longest = 'x'.repeat(2048);
      expect(read({ [name]: longest })).toEqual({ ok: true, value: { ...defaults, [name]: longest } });
      expect(problemsOf({ [name]: `${longest}x` })).toEqual([
        `${name}="${'x'.repeat(80)}" is not allowed: set it to a text of 1 to 2048 characters`,
      ]);
    },
  );

  describe.each([
    'ANTHROPIC_BASE_URL',
    'OPENAI_BASE_URL',
    'GOOGLE_GEMINI_BASE_URL',
    'BEDROCK_BASE_URL',
    'PUBLIC_URL',
  ])('%s', (name) => {
    test.each(['http://127.0.0.1:11434/v1', 'https://gateway.example.org/'])('may be %s', (url) => {
      expect(read({ [name]: url })).toEqual({ ok: true, value: { ...defaults, [name]: url } });
    });

    test.each(['zz', 'localhost:11434', 'ftp://example.org', 'https://', 'https://a.example.org/?v=1'])(
      'is refused as %s',
      (url) => {
        expect(problemsOf({ [name]: url })).toEqual([
          `${name}="${url}" is not allowed: set it to an http or https URL without query and fragment`,
        ]);
      },
    );
  });

  test.each(['/s', '/mnt/shared-1/data_2.x', `/${'x'.repeat(255)}`])('a volume may be at %s', (path) => {
    expect(read({ MSB_SHARED_VOLUME_GUEST_PATH: path })).toEqual({
      ok: true,
      value: { ...defaults, MSB_SHARED_VOLUME_GUEST_PATH: path },
    });
  });

  test.each(['shared', '/', './x', '/a b', '/a:b', '/a,b', '/a\n', `/${'x'.repeat(256)}`])(
    'a volume is not at %j',
    (path) => {
      expect(problemsOf({ MSB_SHARED_VOLUME_GUEST_PATH: path })).toEqual([
        `MSB_SHARED_VOLUME_GUEST_PATH=${JSON.stringify(path.slice(0, 80))} is not allowed: set it to an absolute path of letters, digits, . _ - and /`,
      ]);
    },
  );

  test('a token is sp_ and 64 hexadecimal digits', () => {
    const token = `sp_${'0a'.repeat(32)}`;
    expect(read({ SALLYPORT_TOKEN: token })).toEqual({
      ok: true,
      value: { ...defaults, SALLYPORT_TOKEN: token },
    });
  });
});

describe('an OIDC issuer', () => {
  const both = { OIDC_ISSUER: 'https://id.example.com', OIDC_AUDIENCE: 'sallyport' };

  test.each([
    'https://id.example.com',
    'https://id.example.com:8443/realms/one/',
    'http://127.0.0.1:9000',
    'http://localhost/x',
    'http://[::1]:9000',
  ])('may be %s', (issuer) => {
    const set = { ...both, OIDC_ISSUER: issuer };
    expect(read(set)).toEqual({ ok: true, value: { ...defaults, ...set } });
  });

  test.each([
    'id.example.com',
    'http://id.example.com',
    'http://127.0.0.1.example.com',
    'http://127.0.0.2',
    'ftp://localhost',
    'https://id.example.com?x=1',
    'https://id.example.com#',
    'https://me:secret@id.example.com',
    'https://me@id.example.com',
    'https://:secret@id.example.com',
    'https://id.example.com/a b',
    'https://id.example.com/\n',
  ])('is not %j', (issuer) => {
    expect(problemsOf({ ...both, OIDC_ISSUER: issuer })).toEqual([
      `OIDC_ISSUER=${JSON.stringify(issuer)} is not allowed: set it to an https URL without query and fragment, or an http one of localhost`,
    ]);
  });

  test('is set with its audience or not at all', () => {
    expect(problemsOf({ OIDC_ISSUER: both.OIDC_ISSUER })).toEqual([
      'OIDC_AUDIENCE is required with OIDC_ISSUER: set it to a text of 1 to 2048 characters',
    ]);
    for (const name of ['OIDC_CLIENT_SECRET', 'OIDC_LOGIN_SCOPES', 'SIGN_IN_SECONDS'])
      expect(problemsOf({ ...both, [name]: name === 'SIGN_IN_SECONDS' ? '300' : 'openid' })).toEqual([
        `OIDC_CLIENT_ID is required with ${name}: set it to a text of 1 to 2048 characters`,
      ]);
    for (const name of ['OIDC_AUDIENCE', 'OIDC_SCOPE_CLAIM', 'OIDC_DEFAULT_SCOPE'])
      expect(problemsOf({ [name]: 'admin' })).toEqual([
        `OIDC_ISSUER is required with ${name}: set it to an https URL without query and fragment, or an http one of localhost`,
      ]);
  });

  const project = '11111111-2222-4333-8444-555555555555';
  test.each(['admin', 'admin:ro', `project:${project}`, `project:${project}:ro`])(
    'may give its people the scope %s',
    (scope) => {
      const set = { ...both, OIDC_SCOPE_CLAIM: 'https://example.com/scope', OIDC_DEFAULT_SCOPE: scope };
      expect(read(set)).toEqual({ ok: true, value: { ...defaults, ...set } });
    },
  );

  test.each([
    'none',
    'project:x',
    'project:',
    `project:${project}:rw`,
    `project:${project.toUpperCase()}a`,
    'Admin',
  ])('may not give its people the scope %s', (scope) => {
    expect(problemsOf({ ...both, OIDC_DEFAULT_SCOPE: scope })).toEqual([
      `OIDC_DEFAULT_SCOPE="${scope}" is not allowed: set it to admin, admin:ro, project:<uuid> or project:<uuid>:ro`,
    ]);
  });
});

describe('the message about an invalid value', () => {
  test('escapes line breaks', () => {
    expect(problemsOf({ PORT: '80\nINFO all is well' })).toEqual([
      'PORT="80\\nINFO all is well" is not allowed: set it to a whole number from 0 to 65535',
    ]);
  });

  test('has a line for every invalid variable', () => {
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
  ])('never shows the value of %s', (name, value) => {
    const [problem, ...others] = problemsOf({ [name]: value });
    expect(problem).toMatch(new RegExp(`^${name}=\\(hidden\\) is not allowed: set it to `));
    expect(problem).not.toContain('secret');
    expect(others).toEqual([]);
  });
});

describe('private hosts of MCP servers', () => {
  test.each([
    ['localhost', ['localhost']],
    ['localhost:9000, 10.0.0.7', ['localhost:9000', '10.0.0.7']],
    ['[::1]:65535,mcp_1.internal', ['[::1]:65535', 'mcp_1.internal']],
  ])('%s is a list of hosts', (value, hosts) => {
    expect(read({ MCP_ALLOWED_PRIVATE_HOSTS: value })).toEqual({
      ok: true,
      value: { ...defaults, MCP_ALLOWED_PRIVATE_HOSTS: hosts },
    });
  });

  test.each([
    'localhost,',
    'http://localhost',
    'localhost:0',
    'localhost:65536',
    '*',
    '10.0.0.0/8',
    '::1',
    'a b',
  ])('%j is not', (value) => {
    expect(problemsOf({ MCP_ALLOWED_PRIVATE_HOSTS: value })).toEqual([
      `MCP_ALLOWED_PRIVATE_HOSTS="${value}" is not allowed: set it to one or more host or host:port, separated by commas`,
    ]);
  });
});
