/** The surface that clients rely on: names, fields, and which of them are required. */
import { expect, test } from 'vitest';
import { toolbox } from './toolbox.ts';

const execution = ['template', 'session_id', 'project_id', 'flavor', 'timeout', 'wait_seconds', 'evict_idle'];
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
        'project_id',
        'workspace_id',
        'create_workspace',
        'external_id',
        'source',
        'model',
        'message_id',
        'flavor',
        'template',
        'autonomy_level',
        'tools_allowed',
        'tools_disallowed',
        'caller_id',
        'caller_tools',
        'wait',
        'stop_at_approval',
        'new_session',
        'session_id',
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
    timeout: { type: 'number', minimum: 1, maximum: 300, default: 30 },
  });
});

test('the permission of each tool and action is frozen', () => {
  expect(Object.fromEntries(toolbox.map(({ name, needs }) => [name, needs]))).toEqual({
    execute_code: 'own:write',
    execute_command: 'own:write',
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
