import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import type * as z from 'zod';
import { providers } from '#shared/domain/model.ts';
import { decode } from '../decode.ts';
import { previewRecord, principalRecord, ticketRecord } from './access-records.ts';
import { slotRecord, treeRecord } from './deployment-records.ts';
import { projectRecord } from './project-records.ts';
import { connectionRecord, historyRecord, inboxRecord, sessionRecord } from './session-records.ts';
import { turnState } from './turn-records.ts';
import { sandboxLogRecord, sandboxRecord, workspaceRecord } from './workspace-records.ts';

const id = fc.string({ minLength: 1 });
const count = fc.maxSafeNat();
const args = fc.dictionary(fc.string(), fc.jsonValue());
/** As requests bring them: their schemas drop `__proto__`. */
const labelKey = fc.stringMatching(/^[\w./-]{1,64}$/).filter((key) => key !== '__proto__');
const usage = fc.record({ inputTokens: count, outputTokens: count });
/** JSON has no -0. */
const usd = fc.double({ min: 0, noNaN: true, noDefaultInfinity: true }).map((value) => value + 0);
const approvals = fc.constantFrom('ask', 'low', 'medium', 'high', 'auto');
const flavor = fc.constantFrom('micro', 'small', 'medium', 'large');
const template = fc.constantFrom('python', 'node');
const environment = fc.record({ of: id, names: fc.array(fc.string()), fingerprint: fc.string() });
const asked = { callId: id, name: fc.string(), args };
const decider = fc.record(
  { kind: fc.constantFrom('token', 'person', 'grant', 'policy'), id: fc.string(), name: fc.string() },
  { requiredKeys: ['kind', 'id'] },
);
const grants = fc.array(
  fc.record(
    { id: fc.uuid(), tool: fc.string(), identity: fc.string(), prefix: fc.string(), by: decider, at: count },
    { requiredKeys: ['id', 'tool', 'identity', 'by', 'at'] },
  ),
  { maxLength: 3 },
);
const running = {
  turnId: id,
  messageId: id,
  step: count,
  usage,
  spentUsd: usd,
  policy: fc.record({ mode: approvals, grants }),
};
const call = fc.record(
  {
    ...asked,
    status: fc.constantFrom('pending', 'approved', 'rejected', 'executing', 'completed', 'failed'),
    askedHuman: fc.boolean(),
    generation: count,
    digest: fc.string(),
    askedAt: fc.string(),
    edited: fc.record({ args, digest: fc.string() }),
    grant: fc.string(),
  },
  { requiredKeys: ['callId', 'name', 'args', 'status', 'askedHuman', 'digest', 'askedAt'] },
);
const calls = fc.array(call, { maxLength: 3 });
const repetition = fc.record({ calls: fc.string(), times: count });
const unsaved = fc.oneof(
  fc.record({ generation: count }),
  fc.record({ generation: count, areLost: fc.constant(true) }),
  fc.record({ generation: count, isUntried: fc.constant(true) }),
);
const turn = fc.oneof(
  fc.constant({ kind: 'idle' }),
  fc.record({ kind: fc.constant('thinking'), ...running }),
  fc.record({ kind: fc.constant('thinking'), ...running, repetition, unsaved }),
  fc.record({ kind: fc.constantFrom('deciding', 'acting'), ...running, repetition, calls }),
  fc.record({
    kind: fc.constant('done'),
    turnId: id,
    stopReason: fc.constantFrom(
      'end_turn',
      'max_tokens',
      'cancelled',
      'error',
      'budget_exceeded',
      'steps_exceeded',
      'refused',
    ),
  }),
);
const history = fc.oneof(
  fc.record({ role: fc.constant('user'), messageId: id, text: fc.string() }),
  fc.record(
    {
      role: fc.constant('assistant'),
      messageId: id,
      text: fc.string(),
      calls: fc.array(fc.record(asked), { maxLength: 3 }),
      providerState: fc.constant({ thoughts: [{ signature: 's' }] }),
    },
    { requiredKeys: ['role', 'messageId', 'text', 'calls'] },
  ),
  fc.record({
    role: fc.constant('tool'),
    callId: id,
    name: fc.string(),
    text: fc.string(),
    outcome: fc.constantFrom('completed', 'failed', 'rejected'),
  }),
);
const agentSettings = {
  limits: fc.record(
    { recursionDepthMax: count, agentsPerSessionMax: count, costUsdMax: usd },
    { requiredKeys: [] },
  ),
  effects: fc.record(
    {
      tools: fc.subarray(['execute_command', 'write_file']),
      rules: fc.array(
        fc.record(
          {
            verdict: fc.constantFrom('approve', 'ask', 'refuse'),
            within: fc.subarray(['src', 'docs/', '.']),
            removes: fc.boolean(),
            filesMax: fc.nat(),
          },
          { requiredKeys: ['verdict'] },
        ),
        { maxLength: 3 },
      ),
    },
    { requiredKeys: [] },
  ),
  disabledTools: fc.array(fc.string(), { maxLength: 3 }),
  mcpNamespacing: fc.constantFrom('auto', 'prefix', 'none'),
};
const session = fc.record(
  {
    id,
    owner: id,
    project: id,
    workspace: id,
    kind: fc.constantFrom('agent', 'execution'),
    status: fc.constantFrom(
      'created',
      'running',
      'idle',
      'completed',
      'failed',
      'creating',
      'ready',
      'error',
      'stopped',
    ),
    title: fc.string(),
    labels: fc.dictionary(labelKey, fc.string(), { maxKeys: 3 }),
    isArchived: fc.constant(true),
    idleMs: count,
    lifetimeMs: count,
    environment,
    cwd: fc.string(),
    agent: fc.string(),
    flavor,
    template,
    provider: fc.constantFrom(...providers),
    model: fc.string(),
    approvals,
    grants,
    ...agentSettings,
    allowedTools: fc.array(fc.string(), { maxLength: 3 }),
    usage,
    costUsd: usd,
    depth: count,
    allowSmallerFlavor: fc.boolean(),
    createdAt: count,
    lastActiveAt: count,
    runningCalls: fc.dictionary(fc.uuid(), count, { maxKeys: 4 }),
    dueAt: count,
    lastSeq: fc.integer({ min: -1 }),
    workSeq: count,
    leaseHolder: fc.string(),
    leaseFence: count,
    leaseUntil: count,
  },
  {
    requiredKeys: [
      'id',
      'owner',
      'project',
      'workspace',
      'kind',
      'status',
      'flavor',
      'template',
      'provider',
      'model',
      'approvals',
      'grants',
      'usage',
      'costUsd',
      'depth',
      'allowSmallerFlavor',
      'createdAt',
      'lastActiveAt',
      'runningCalls',
      'lastSeq',
      'workSeq',
      'leaseHolder',
      'leaseFence',
      'leaseUntil',
    ],
  },
);
const sandbox = fc.record(
  {
    generation: count,
    state: fc.constantFrom('starting', 'ready', 'stopping', 'stopped'),
    flavor,
    template,
    requestedAt: count,
    source: fc.constantFrom('cold', 'pool'),
    warm: fc.record({ entry: id, generation: count }),
    taskArn: fc.string(),
    address: fc.string(),
    readyAt: count,
    stopRequestedAt: count,
    stoppedAt: count,
    stoppedReason: fc.string(),
    untold: fc.array(id, { maxLength: 3 }),
    lost: fc.string(),
    restoringUntil: count,
    savingUntil: count,
    taskStopRequestedAt: count,
    isUnsaved: fc.constant(true),
    ports: fc.array(fc.integer({ min: 8000, max: 8999 }), { maxLength: 5 }),
    logsSeen: count,
    environment,
    cwd: fc.string(),
    lifetimeMs: count,
    slot: fc.record({ holder: fc.string(), session: id }),
  },
  { requiredKeys: ['generation', 'state', 'flavor', 'template', 'requestedAt', 'source'] },
);
const checkpoint = fc.record(
  {
    id,
    sha256: fc.string(),
    savedAt: count,
    generation: count,
    files: count,
    bytes: count,
    packs: fc.array(fc.string()),
    sameAs: fc.string(),
  },
  { requiredKeys: ['id', 'sha256', 'savedAt', 'generation', 'files', 'bytes', 'packs'] },
);
const workspace = fc.record(
  {
    id,
    owner: id,
    project: id,
    createdAt: count,
    users: fc.array(id),
    isNamed: fc.constant(true),
    isDefault: fc.constant(true),
    externalId: fc.string(),
    source: fc.string(),
    latestAgent: id,
    deletedAt: count,
    sandbox,
    checkpoint,
  },
  { requiredKeys: ['id', 'owner', 'project', 'createdAt', 'users'] },
);
const inbox = fc.record(
  {
    messageId: id,
    text: fc.string(),
    acceptedAt: count,
    model: fc.string(),
    connectionId: id,
    correlationId: id,
  },
  { requiredKeys: ['messageId', 'text', 'acceptedAt', 'correlationId'] },
);
const scope = fc.oneof(
  fc.constantFrom('admin', 'admin:ro'),
  fc.uuid().map((project) => `project:${project}`),
  fc.uuid().map((project) => `project:${project}:ro`),
);
const principal = fc.record(
  { owner: id, scope, tokenHash: id, isPerson: fc.constant(true), expiresAt: count },
  { requiredKeys: ['owner', 'scope', 'tokenHash'] },
);
const connection = fc.record(
  { id, sessionId: id, principal, connectedAt: count, since: fc.integer({ min: -1 }) },
  { requiredKeys: ['id', 'sessionId', 'principal', 'connectedAt'] },
);
const ticket = fc.record({ principal, expiresAt: count });
const preview = fc.record({ principal, sessionId: id, port: fc.integer(), expiresAt: count });
const project = fc.record(
  {
    id,
    owner: id,
    name: fc.string(),
    description: fc.string(),
    flavor,
    template,
    flavorsAllowed: fc.array(flavor, { maxLength: 4 }),
    provider: fc.constantFrom(...providers),
    model: fc.string(),
    approvals,
    ...agentSettings,
    createdAt: count,
  },
  { requiredKeys: ['id', 'owner', 'name', 'createdAt'] },
);
const slotSandbox = fc.record({ workspace: id, generation: count, flavor });
const slotParts = { turn: fc.constant(true as const), sandbox: slotSandbox };
const ref = fc.record({ session: id, ...slotParts, movedAt: count }, { requiredKeys: ['session'] });
const tree = fc.record({
  agents: count,
  spentUsd: usd,
  reserved: fc.dictionary(fc.uuid(), fc.record({ usd, fence: count, until: count }), { maxKeys: 3 }),
  version: count,
});
const sandboxLog = fc.record({
  lines: fc.array(
    fc.record(
      { at: count, stream: fc.constantFrom('stderr', 'lifecycle'), text: fc.string(), id: fc.string() },
      { requiredKeys: ['at', 'stream', 'text'] },
    ),
    { maxLength: 5 },
  ),
});

const records: [string, z.ZodType, fc.Arbitrary<unknown>][] = [
  ['turn state', turnState(), turn],
  ['history message', historyRecord(), history],
  ['session', sessionRecord(), session],
  ['sandbox', sandboxRecord(), sandbox],
  ['workspace', workspaceRecord(), workspace],
  ['inbox message', inboxRecord(), inbox],
  ['principal', principalRecord(), principal],
  ['connection', connectionRecord(), connection],
  ['ticket', ticketRecord(), ticket],
  ['preview', previewRecord(), preview],
  ['project', projectRecord(), project],
  ['slot', slotRecord(), ref],
  ['tree', treeRecord(), tree],
  ['portion of a sandbox log', sandboxLogRecord(), sandboxLog],
];

/** Through text and back, as a store keeps it (JSON has no -0). */
const stored = (value: unknown): unknown => JSON.parse(JSON.stringify(value));

test.each(records)('a %s is decoded as it was stored', (_name, schema, arbitrary) => {
  fc.assert(
    fc.property(arbitrary, (value) => {
      expect(decode(schema, stored(value))).toEqual({ ok: true, value: stored(value) });
    }),
  );
});

test.each(records)(
  'a %s without one of its fields, or with null there, is refused',
  (_name, schema, arbitrary) => {
    fc.assert(
      fc.property(arbitrary, fc.nat(), (value, pick) => {
        const record = stored(value) as Record<string, unknown>;
        const fields = Object.keys(record);
        const field = fields[pick % fields.length] ?? '';
        expect(decode(schema, { ...record, [field]: null }).ok).toBe(false);
      }),
    );
  },
);

const bareSandbox = {
  generation: 1,
  state: 'ready',
  flavor: 'micro',
  template: 'python',
  requestedAt: 1,
  source: 'cold',
};

test('the valid sandbox of these refusals is accepted', () => {
  expect(decode(sandboxRecord(), bareSandbox)).toEqual({ ok: true, value: bareSandbox });
});

describe('a record is refused', () => {
  test.each<[string, z.ZodType, unknown]>([
    ['with a state that nobody knows', turnState(), { kind: 'dreaming' }],
    [
      'with a size that nobody sells',
      slotRecord(),
      {
        session: 's',
        sandbox: { workspace: 'w', generation: 1, flavor: 'huge' },
      },
    ],
    ['with less than no money', treeRecord(), { agents: 1, spentUsd: -1, reserved: {}, version: 1 }],
    ['with a source that nobody knows', sandboxRecord(), { ...bareSandbox, source: 'lake' }],
    [
      'with a warm pool entry without a name',
      sandboxRecord(),
      { ...bareSandbox, warm: { entry: '', generation: 1 } },
    ],
    ['with half a port', sandboxRecord(), { ...bareSandbox, ports: [8000.5] }],
    ['with a stream of user code', sandboxLogRecord(), { lines: [{ at: 1, stream: 'stdout', text: '' }] }],
    ['with an empty id', turnState(), { kind: 'done', turnId: '', stopReason: 'end_turn' }],
    ['with a scope of another form', principalRecord(), { owner: 'o', scope: 'project:x', tokenHash: 'h' }],
    [
      'with a scope that only begins well',
      principalRecord(),
      { owner: 'o', scope: 'admin:rw', tokenHash: 'h' },
    ],
    [
      'with half a millisecond',
      ticketRecord(),
      { principal: { owner: 'o', scope: 'admin', tokenHash: 'h' }, expiresAt: 1.5 },
    ],
  ])('%s', (_what, schema, value) => {
    expect(decode(schema, value).ok).toBe(false);
  });
});
