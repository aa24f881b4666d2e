/** The surface that clients rely on: names, fields, and which of them are required. */
import { expect, test } from 'vitest';
import { mayUse } from '#shared/domain/access.ts';
import type { Scope } from '#shared/domain/principal.ts';
import { toolbox } from './toolbox.ts';

const execution = [
  ...['template', 'session_id', 'project_id', 'flavor', 'timeout', 'cwd', 'env', 'output_limit'],
  ...['background', 'wait_seconds', 'evict_idle'],
];
const executed = ['session_id', 'stdout', 'stderr', 'exit_code', 'execution_time_ms', 'session_created'];

test('tools, their arguments and the fields of their results are frozen', () => {
  const surface = toolbox.map(({ name, inputSchema, outputSchema }) => [
    name,
    Object.keys(inputSchema.properties ?? {}),
    inputSchema.required ?? [],
    outputSchema.required ?? [],
  ]);
  expect(surface).toEqual([
    ['execute_code', ['code', ...execution], ['code'], executed],
    ['execute_command', ['command', 'args', ...execution], ['command'], executed],
    ['get_sessions', ['session_id'], [], ['sessions']],
    ['stop_session', ['session_id'], ['session_id'], ['session_id', 'success', 'message']],
    [
      'process',
      [
        ...['action', 'session_id', 'process_id', 'offset', 'output_limit', 'wait_seconds', 'text', 'eof'],
        'signal',
      ],
      ['action'],
      [],
    ],
    ['get_volume_path', ['session_id'], [], ['volume_path', 'description', 'available']],
    ['read_file', ['session_id', 'path'], ['session_id', 'path'], ['path', 'size', 'mime_type']],
    [
      'write_file',
      ['session_id', 'path', 'content', 'encoding'],
      ['session_id', 'path', 'content'],
      ['path', 'size', 'created', 'message'],
    ],
    ['list_files', ['session_id', 'path'], ['session_id'], ['path', 'files']],
    [
      'project',
      [
        'action',
        'name',
        'description',
        'provider',
        'model',
        'thinking',
        'runtime',
        'flavor',
        'template',
        'flavors_allowed',
        'autonomy',
        'approvals',
        'max_recursion_depth',
        'max_agents_per_session',
        'max_cost_usd',
        'disabled_tools',
        'mcp_namespacing',
        'network',
        'effects',
        'name_contains',
        'limit',
        'after',
        'project_id',
        'clear',
      ],
      ['action'],
      [],
    ],
    [
      'session',
      [
        'action',
        'message',
        'session_id',
        'project_id',
        'workspace_id',
        'create_workspace',
        'external_id',
        'source',
        'model',
        'thinking',
        'runtime',
        'message_id',
        'flavor',
        'template',
        'approvals',
        'autonomy_level',
        'max_cost_usd',
        'labels',
        'env',
        'network',
        'tools_allowed',
        'tools_disallowed',
        'caller_id',
        'caller_tools',
        'wait',
        'stop_at_approval',
        'new_session',
        'status',
        'limit',
        'after',
        'since_index',
        'max_events',
        'include_children',
        'call_id',
        'approved',
        'digest',
        'turn_id',
        'effect_digest',
        'reason',
        'args',
        'remember',
        'max_age_hours',
      ],
      ['action'],
      [],
    ],
    ['workspace', ['action', 'project_id', 'limit', 'after', 'workspace_id'], ['action'], []],
    [
      'schedule',
      [
        'action',
        'name',
        'cron_expr',
        'prompt',
        'targets',
        'enabled',
        'overlap_behavior',
        'session_behavior',
        'project_id',
        'after',
        'schedule_id',
        'limit',
      ],
      ['action'],
      [],
    ],
    ['token', ['action', 'name', 'scope', 'expires_in_seconds', 'after', 'token_id'], ['action'], []],
    [
      'config_limits',
      ['project_id', 'session_id'],
      [],
      [
        'project_id',
        'max_recursion_depth',
        'max_agents_per_session',
        'max_cost_usd',
        'max_sessions',
        'active_sessions',
        'max_agent_sessions',
        'max_steps_per_turn',
        'flavors_allowed',
        'timeout_seconds',
        'max_wait_seconds',
        'idle_seconds',
        'rate_limit',
        'max_read_file_bytes',
        'max_write_file_bytes',
      ],
    ],
    [
      'caller_tool_response',
      ['session_id', 'request_id', 'result', 'error'],
      ['session_id', 'request_id'],
      ['session_id', 'request_id', 'accepted'],
    ],
  ]);
});

test('schemas list their values and name no dialect', () => {
  const text = JSON.stringify(toolbox.map(({ inputSchema, outputSchema }) => [inputSchema, outputSchema]));
  expect(text).not.toContain('$schema');
  expect(toolbox[0]?.inputSchema.properties).toMatchObject({
    template: { type: 'string', enum: ['python', 'node'] },
    flavor: { type: 'string', enum: ['micro', 'small', 'medium', 'large'] },
    timeout: { type: 'number', minimum: 1, maximum: 3600, default: 30 },
    env: { type: 'array', items: { type: 'string' } },
    output_limit: { type: 'integer', minimum: 1, maximum: 100_000, default: 30_000 },
  });
});

const shownTo = (scope: Scope) =>
  toolbox.flatMap((tool) => tool.shownTo((permission) => mayUse({ scope }, permission)) ?? []);
const actionsOf = (scope: Scope) =>
  Object.fromEntries(
    shownTo(scope).map(({ name, inputSchema }) => {
      const action = inputSchema.properties?.['action'] as { enum?: readonly string[] } | undefined;
      return [name, action?.enum?.join(' ') ?? ''];
    }),
  );
const project = '11111111-1111-4111-8111-111111111111';

test('a token is shown the tools and actions that its scope allows', () => {
  const reading = {
    process: 'list output',
    get_sessions: '',
    get_volume_path: '',
    read_file: '',
    list_files: '',
    project: 'list get options',
    session: 'get list events',
    workspace: 'list',
    schedule: 'list get history',
    config_limits: '',
  };
  expect(actionsOf(`project:${project}:ro` as Scope)).toEqual(reading);
  expect(actionsOf('admin:ro')).toEqual(reading);
  const { token: _, ...unprivileged } = actionsOf('admin');
  expect(actionsOf(`project:${project}` as Scope)).toEqual({ ...unprivileged, project: 'list get options' });
});

/**
 * The o200k encoding of gpt-tokenizer 4.0.0 took at least 4.25 characters of each tool for a token; counted as 4, so that the
 * real number is smaller.
 */
const charactersPerToken = 4;
const tokensMax = 6000;

test('names, descriptions and input schemas of all tools have at most 6,000 tokens', () => {
  const listed = toolbox.map(({ name, description, inputSchema }) => ({ name, description, inputSchema }));
  expect(JSON.stringify(listed).length / charactersPerToken).toBeLessThanOrEqual(tokensMax);
});

/** All keywords that the strict modes of model providers take. https://developers.openai.com/api/docs/guides/structured-outputs */
const strictKeywords = new Set([
  ...['type', 'properties', 'required', 'additionalProperties', 'items', 'anyOf', 'enum', 'const'],
  ...['description', 'default', 'minLength', 'maxLength', 'minimum', 'maximum', 'pattern'],
  ...['minItems', 'maxItems', 'format'],
]);
const looseParts = (schema: JsonSchema, path: string): readonly string[] => {
  const { type, properties, items, anyOf } = schema;
  const isTyped = typeof type === 'string' || anyOf !== undefined;
  const isOpen = type === 'object' && (properties === undefined || schema['additionalProperties'] !== false);
  return [
    ...Object.keys(schema).flatMap((key) => (strictKeywords.has(key) ? [] : [`${path}: ${key}`])),
    ...(isTyped ? [] : [`${path}: no type`]),
    ...(isOpen ? [`${path}: free-form`] : []),
    ...Object.entries(properties ?? {}).flatMap(([name, field]) => looseParts(field, `${path}.${name}`)),
    ...(items === undefined ? [] : looseParts(items, `${path}[]`)),
    ...(anyOf ?? []).flatMap((option) => looseParts(option, `${path}|`)),
  ];
};
type JsonSchema = {
  readonly type?: unknown;
  readonly properties?: Readonly<Record<string, JsonSchema>>;
  readonly items?: JsonSchema;
  readonly anyOf?: readonly JsonSchema[];
  readonly [keyword: string]: unknown;
};

test('every input schema converts to a strict one', () => {
  expect(toolbox.flatMap(({ name, inputSchema }) => looseParts(inputSchema as JsonSchema, name))).toEqual([]);
});

test('every tool has a title and says whether it reads, destroys and reaches the world', () => {
  const hints = toolbox.map(({ name, annotations }) => {
    const { title: _, readOnlyHint, destructiveHint, openWorldHint } = annotations;
    return [name, readOnlyHint ? 'reads' : destructiveHint ? 'destroys' : 'adds', openWorldHint];
  });
  expect(Object.fromEntries(hints.map(([name, ...rest]) => [name, rest]))).toEqual({
    execute_code: ['destroys', false],
    execute_command: ['destroys', false],
    process: ['destroys', false],
    get_sessions: ['reads', false],
    stop_session: ['destroys', false],
    get_volume_path: ['reads', false],
    read_file: ['reads', false],
    write_file: ['destroys', false],
    list_files: ['reads', false],
    project: ['destroys', false],
    session: ['destroys', true],
    workspace: ['destroys', false],
    schedule: ['destroys', true],
    token: ['destroys', false],
    config_limits: ['reads', false],
    caller_tool_response: ['adds', false],
  });
});

test('the permission of each tool and action is frozen', () => {
  expect(Object.fromEntries(toolbox.map(({ name, needs }) => [name, needs]))).toEqual({
    execute_code: 'own:write',
    execute_command: 'own:write',
    process: {
      list: 'own:read',
      output: 'own:read',
      input: 'own:write',
      signal: 'own:write',
      kill: 'own:write',
    },
    get_sessions: 'own:read',
    stop_session: 'own:write',
    get_volume_path: 'own:read',
    read_file: 'own:read',
    write_file: 'own:write',
    list_files: 'own:read',
    project: {
      create: 'global:write',
      list: 'own:read',
      get: 'own:read',
      update: 'global:write',
      delete: 'global:write',
      options: 'global:read',
    },
    session: {
      message: 'own:write',
      spawn: 'own:write',
      get: 'own:read',
      list: 'own:read',
      events: 'own:read',
      approve: 'own:write',
      cancel: 'own:write',
      retry: 'own:write',
      end: 'own:write',
      cleanup: 'own:write',
    },
    workspace: { list: 'own:read', delete: 'own:write' },
    schedule: {
      create: 'own:write',
      list: 'own:read',
      get: 'own:read',
      update: 'own:write',
      delete: 'own:write',
      trigger: 'own:write',
      history: 'own:read',
    },
    token: { create: 'admin', list: 'admin', revoke: 'admin' },
    config_limits: 'own:read',
    caller_tool_response: 'own:write',
  });
});

test('every field of every tool is described', () => {
  const bare = (schema: unknown, path: string): string[] => {
    if (typeof schema !== 'object' || schema === null) return [];
    return Object.entries(schema).flatMap(([key, value]) => {
      if (key !== 'properties') return bare(value, `${path}/${key}`);
      return Object.entries(value as Record<string, { description?: string }>).flatMap(([name, field]) => [
        ...(field.description === undefined ? [`${path}.${name}`] : []),
        ...bare(field, `${path}.${name}`),
      ]);
    });
  };
  expect(
    toolbox.flatMap(({ name, inputSchema, outputSchema }) => [
      ...bare(inputSchema, `${name} in`),
      ...bare(outputSchema, `${name} out`),
    ]),
  ).toEqual([]);
});
