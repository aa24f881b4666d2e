import { describe, expect, test } from 'vitest';
import * as z from 'zod';
import { withoutAbsent } from '../absent-arguments.ts';
import { decode } from '../decode.ts';
import { labels } from '../rest/session-bodies.ts';
import { networkArgument, pairs } from './free-form-fields.ts';
import { executeCommandArguments } from './mcp-tools.ts';
import { processSignalArguments } from './process-tool.ts';
import { createProjectArguments, projectOptionsOfArguments } from './project-tool.ts';
import { spawnArguments } from './session-tool/converse.ts';

const parsed = (schema: z.ZodType, value: unknown) => decode(schema, withoutAbsent(schema, value));

describe('a network in a tool', () => {
  const schema = z.object({ network: networkArgument.optional() });
  test.each([
    [['a.example'], { allow: ['a.example'] }],
    [['none'], { allow: [] }],
    ['none', 'none'],
    [{ allow: ['a.example'] }, { allow: ['a.example'] }],
    ['{"allow":["a.example"]}', { allow: ['a.example'] }],
    [
      { allow: ['a.example'], inject: [{ host: 'a.example', header: 'x-key', secret: 'KEY' }] },
      { allow: ['a.example'], inject: [{ host: 'a.example', header: 'x-key', secret: 'KEY' }] },
    ],
    [[], undefined],
    ['', undefined],
  ])('%j is %j', (network, value) => {
    expect(parsed(schema, { network })).toEqual({
      ok: true,
      value: value === undefined ? {} : { network: value },
    });
  });
  test.each([[['none', 'a.example']], [['a.example', 'none']]])('%j says two things', (network) => {
    expect(parsed(schema, { network })).toEqual({
      ok: false,
      problem:
        'network: none and hosts exclude each other: use ["none"] for no network, or list only the hosts',
    });
  });
  test.each([[['http://x']], [[1]], ['all'], [{ allow: 'x' }], [{ allow: [], more: 1 }], [7]])(
    '%j is refused',
    (network) => {
      expect(parsed(schema, { network })).toMatchObject({
        ok: false,
        problem: expect.stringMatching(/^network/),
      });
    },
  );
});

describe('a map in a tool', () => {
  const schema = z.object({
    labels: pairs(/^([^:]+):(.*)$/s, { form: 'key:value', of: labels }).optional(),
  });
  test.each([[['a:b', 'c:d']], [{ a: 'b', c: 'd' }], ['{"a":"b","c":"d"}']])('%j', (given) => {
    expect(parsed(schema, { labels: given })).toEqual({ ok: true, value: { labels: { a: 'b', c: 'd' } } });
  });
  test.each([[['ab']], [[1]], ['ab'], [7]])('%j is refused', (given) => {
    expect(parsed(schema, { labels: given })).toMatchObject({ ok: false });
  });
});

test('approvals of a session are named as over REST, every mode', () => {
  for (const approvals of ['ask', 'effect', 'auto'])
    expect(parsed(spawnArguments, { approvals })).toMatchObject({ ok: true, value: { approvals } });
  expect(parsed(spawnArguments, { approvals: 'never' })).toMatchObject({ ok: false });
});

test.each(['TERM', 'SIGTERM', 'sigterm'])('%s is SIGTERM', (signal) => {
  const named = { session_id: crypto.randomUUID(), process_id: crypto.randomUUID(), signal };
  expect(parsed(processSignalArguments, named)).toMatchObject({ ok: true, value: { signal: 'SIGTERM' } });
  expect(parsed(processSignalArguments, { ...named, signal: `${signal}X` })).toMatchObject({ ok: false });
});

test('output may be limited to less than a line', () => {
  const limited = { command: 'true', output_limit: 1 };
  expect(parsed(executeCommandArguments, limited)).toMatchObject({ ok: true, value: { output_limit: 1 } });
  expect(parsed(executeCommandArguments, { ...limited, output_limit: 0 })).toMatchObject({ ok: false });
});

test('a project has rules over effects and secrets in headers, as an object or as JSON', () => {
  const effects = { tools: ['execute_command'], rules: [{ verdict: 'refuse', touches: ['.git'] }] };
  const network = { allow: ['a.example'], inject: [{ host: 'a.example', header: 'x-key', secret: 'KEY' }] };
  for (const given of [
    { effects, network },
    { effects: JSON.stringify(effects), network: JSON.stringify(network) },
  ]) {
    const decoded = decode(createProjectArguments, { name: 'p', ...given });
    expect(decoded.ok && projectOptionsOfArguments(decoded.value)).toMatchObject({ effects, network });
  }
});
