import { expect, test } from 'vitest';
import { decode } from '../decode.ts';
import {
  executeCodeArguments,
  executeCommandArguments,
  getVolumePathArguments,
  listFilesArguments,
  readFileArguments,
  stopSessionArguments,
  writeFileArguments,
} from './mcp-tools.ts';
import { createProjectArguments } from './project-tool.ts';

test('missing fields have their default', () => {
  expect(decode(executeCodeArguments, { code: 'print(1)' })).toEqual({
    ok: true,
    value: {
      code: 'print(1)',
      timeout: 30,
      output_limit: 30_000,
      background: false,
      wait_seconds: 0,
      evict_idle: false,
    },
  });
});

test('all given fields are kept, the flavor in lower case', () => {
  const given = {
    command: 'ls',
    args: ['-l', ''],
    template: 'node',
    session_id: 's',
    project_id: 'p',
    flavor: 'SMALL',
    timeout: 3600,
    cwd: '/tmp',
    env: { A: 'b=c' },
    output_limit: 1000,
    background: true,
    wait_seconds: 60,
    evict_idle: true,
  };
  expect(decode(executeCommandArguments, given)).toEqual({ ok: true, value: { ...given, flavor: 'small' } });
});

test.each([
  [{}, 'code: a text of 1 to 1048576 bytes'],
  [{ code: '' }, 'code: a text of 1 to 1048576 bytes'],
  [{ code: 'a\0b' }, 'code: a text without NUL characters'],
  [{ code: 'x', flavor: 'huge' }, 'flavor: use one of micro, small, medium, large'],
  [{ code: 'x', flavor: 7 }, 'flavor: use one of micro, small, medium, large'],
  [{ code: 'x', template: 'ruby' }, 'template: use one of python, node'],
  [{ code: 'x', timeout: 0 }, 'timeout: a number of seconds from 1 to 3600'],
  [{ code: 'x', timeout: 3601 }, 'timeout: a number of seconds from 1 to 3600'],
  [{ code: 'x', timeout: '5' }, 'timeout: a number of seconds from 1 to 3600'],
  [{ code: 'x', wait_seconds: 61 }, 'wait_seconds: a number of seconds from 0 to 60'],
  [{ code: 'x', evict_idle: 'yes' }, 'evict_idle: true or false'],
])('%j is refused with the valid values', (given, problem) => {
  expect(decode(executeCodeArguments, given)).toEqual({ ok: false, problem });
});

test.each([
  ['a\ud800', 'path: a path without halves of characters'],
  ['a\0', 'path: a path without NUL characters'],
  ['n'.repeat(256), 'path: a path with at most 255 bytes between two slashes'],
  ['ü/'.repeat(1400), 'path: a path of at most 4095 bytes'],
])('every file tool refuses a path that no file can have', (path, problem) => {
  for (const schema of [readFileArguments, listFilesArguments])
    expect(decode(schema, { session_id: 's', path })).toEqual({ ok: false, problem });
  expect(decode(writeFileArguments, { session_id: 's', path, content: '' })).toEqual({ ok: false, problem });
});

test('an unknown argument is named, with the known ones', () => {
  expect(decode(stopSessionArguments, { session_id: 's', force: true, now: 1 })).toEqual({
    ok: false,
    problem: 'unknown argument "force", "now"; allowed: session_id',
  });
});

test('code is bounded in bytes, and a program more narrowly, since it is an argument of a process', () => {
  expect(decode(executeCodeArguments, { code: 'ж'.repeat(524_288) }).ok).toBe(true);
  expect(decode(executeCodeArguments, { code: 'ж'.repeat(524_289) })).toEqual({
    ok: false,
    problem: 'code: a text of 1 to 1048576 bytes',
  });
  expect(decode(executeCommandArguments, { command: 'ж'.repeat(60_000) }).ok).toBe(true);
  expect(decode(executeCommandArguments, { command: 'ж'.repeat(60_001) })).toEqual({
    ok: false,
    problem: 'command: a text of 1 to 120000 bytes',
  });
});

test('a list of arguments is bounded', () => {
  const heavy = { command: 'x', args: Array.from({ length: 10 }, () => 'a'.repeat(110_000)) };
  expect(decode(executeCommandArguments, heavy)).toEqual({
    ok: false,
    problem: 'args: at most 1048576 bytes together',
  });
  const given = { command: 'x', args: Array.from({ length: 1001 }, () => 'a') };
  expect(decode(executeCommandArguments, given)).toEqual({
    ok: false,
    problem: 'args: a list of at most 1000 texts',
  });
});

test('a project allows sizes in any case, and at least one', () => {
  expect(decode(createProjectArguments, { name: 'p', flavors_allowed: ['Micro', 'small'] })).toEqual({
    ok: true,
    value: { name: 'p', flavors_allowed: ['micro', 'small'] },
  });
  expect(decode(createProjectArguments, { name: 'p', flavors_allowed: [] })).toEqual({
    ok: false,
    problem: 'flavors_allowed: a list of at least one flavor',
  });
  expect(decode(createProjectArguments, { name: 'p', flavors_allowed: ['big'] })).toEqual({
    ok: false,
    problem: 'flavors_allowed.0: use one of micro, small, medium, large',
  });
});

test('arguments are an object', () => {
  expect(decode(getVolumePathArguments, 'x')).toEqual({ ok: false, problem: 'an object' });
});

test('variables are an object, or a list of texts as strict schemas have it', () => {
  const given = (env: unknown) => decode(executeCommandArguments, { command: 'x', env });
  expect(given(['A=b=c', 'B='])).toMatchObject({ ok: true, value: { env: { A: 'b=c', B: '' } } });
  expect(given({ A: 'b' })).toMatchObject({ ok: true, value: { env: { A: 'b' } } });
  for (const env of [['A'], [7], { '1': 'x' }, 'A=b', { SALLYPORT_A: 'x' }])
    expect(given(env)).toMatchObject({ ok: false, problem: expect.stringContaining('env') });
});
