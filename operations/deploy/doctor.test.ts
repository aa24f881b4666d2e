import { describe, expect, test } from 'vitest';
import { deployCommand } from './deploy.ts';
import { doctorCommand } from './doctor.ts';
import { judgeDeployment, parseAnswer } from './doctor-checks.ts';
import { busyAccount, emptyAccount, openMachine, usualFacts } from './fixtures/machine.ts';

const sound = {
  stacks: [{ name: 'sallyport-data', region: 'eu-central-1', status: 'UPDATE_COMPLETE' }],
  missing: [],
  alarms: [],
  token: 'shown' as const,
};

const turnsFailed = {
  AlarmName: 'sallyport-observability-TurnsFailed',
  StateValue: 'OK',
  ActionsEnabled: true,
};

describe('the end of a deploy', () => {
  test('is a turn and a sandbox, with the time of each', async () => {
    const { code, out } = await openMachine(emptyAccount).run(deployCommand, ['--yes']);
    expect(code).toBe(0);
    expect(out).toMatch(/A turn works: 1\.2 s\n.*\nA sandbox works: 1\.2 s/);
  });

  test('fails with the reason when one of them does', async () => {
    const { code, error } = await openMachine({ ...emptyAccount, broken: 'sandbox' }).run(deployCommand, [
      '--yes',
    ]);
    expect([code, error]).toEqual([
      1,
      expect.stringMatching(/^a sandbox does not work: the image cannot be pulled\n.*sallyport-synthetic/),
    ]);
  });

  test('is left out on request', async () => {
    const machine = openMachine(emptyAccount);
    await machine.run(deployCommand, ['--yes', '--no-check']);
    expect(machine.calls.filter((call) => call.startsWith('aws lambda invoke'))).toEqual([]);
  });
});

describe('the doctor', () => {
  test('finds nothing in a sound deployment, and changes nothing', async () => {
    const machine = openMachine(busyAccount);
    const { code, out, error } = await machine.run(doctorCommand, []);
    expect([code, error]).toEqual([0, '']);
    expect(out).toContain('Nothing is wrong.');
    const verbs = machine.calls.filter((call) => !/^(?:curl|aws \S+ (?:get|describe|list)-)/.test(call));
    expect(verbs).toEqual([]);
  });

  test('names alarms that ring and low quotas, and runs the checks on request', async () => {
    const has = {
      ...usualFacts,
      'cloudwatch describe-alarms': { MetricAlarms: [{ ...turnsFailed, StateValue: 'ALARM' }] },
      'service-quotas get-service-quota L-3032A538': { Quota: { Value: 2 } },
    };
    const { code, out } = await openMachine({ ...busyAccount, has }).run(doctorCommand, ['--check']);
    expect(code).toBe(0);
    expect(out).toContain('Note: the alarm sallyport-observability-TurnsFailed rings');
    expect(out).toContain('Note: Fargate runs 2 vCPUs');
    expect(out).toMatch(/A sandbox works: 1\.2 s, under cgroups v2\n/);
  });

  test('says how long sandboxes of the last hour needed to leave the network', async () => {
    const ended = (executionStoppedAt: string, stoppedAt: string) => ({ executionStoppedAt, stoppedAt });
    const stoppedTasks = [
      ended('2026-11-26T09:00:00.250000+00:00', '2026-11-26T09:00:21.750000+00:00'),
      ended('2026-11-26T09:10:00.000000+00:00', '2026-11-26T10:10:34.000000+01:00'),
      { executionStoppedAt: '2026-11-26T09:30:00.000000+00:00' },
      {},
    ];
    const { out } = await openMachine({ ...busyAccount, stoppedTasks }).run(doctorCommand, []);
    expect(out).toContain('Sandboxes that ended in the last hour left the network in 21.5 to 34.0 s.\n');
    const quiet = await openMachine(busyAccount).run(doctorCommand, []);
    expect(quiet.out).toContain('No sandbox has ended in the last hour');
  });

  test.each(['ecs list-tasks', 'ecs describe-tasks'])('that may not call %s says so', async (call) => {
    const account = { ...busyAccount, stoppedTasks: [{}], refuses: { [call]: 'AccessDeniedException' } };
    const { code, out } = await openMachine(account).run(doctorCommand, []);
    expect([code, out]).toEqual([0, expect.stringContaining('leave the network cannot be read')]);
  });

  test('reports a missing deployment', async () => {
    const { code, error } = await openMachine(emptyAccount).run(doctorCommand, []);
    expect([code, error]).toEqual([1, expect.stringContaining('there is no deployment sallyport')]);
  });
});

describe('what one machine cannot prove', () => {
  const answer = (status: number, headers: string, body: string) =>
    parseAnswer(`HTTP/2 ${status} \r\n${headers}\r\n\r\n${body}`) ?? { status: 0, headers: {}, body: '' };

  test.each([
    [
      'a renamed header of a refusal',
      { refused: answer(401, 'x-amzn-remapped-www-authenticate: Bearer', '{}') },
      /no WWW-Authenticate/,
    ],
    [
      'an endpoint that is no refusal',
      { refused: answer(403, 'server: CloudFront', '<html>') },
      /answers 403/,
    ],
    ['a slash that a proxy decodes', { encoded: answer(404, 'server: CloudFront', '<html>') }, /%2F/],
  ])('%s is a fault', (_, facts, says) => {
    expect(judgeDeployment({ ...sound, ...facts })).toEqual([
      { level: 'stop', problem: expect.stringMatching(says), next: expect.stringMatching(/\S/) },
    ]);
  });

  test('a stack that was rolled back is noted', () => {
    const status = 'UPDATE_ROLLBACK_COMPLETE';
    const stacks = [{ name: 'sallyport-edge', region: 'eu-central-1', status }];
    expect(judgeDeployment({ ...sound, stacks })).toMatchObject([{ level: 'warn' }]);
  });

  test('an answer behind a proxy is that of the deployment', () => {
    const text =
      'HTTP/1.1 200 Connection established\r\n\r\nHTTP/2 401 \r\nwww-authenticate: Bearer\r\n\r\n{"error":1}\n\nHTTP';
    expect(parseAnswer(text)).toEqual({
      status: 401,
      headers: { 'www-authenticate': 'Bearer' },
      body: '{"error":1}\n\nHTTP',
    });
  });

  test('text that is no answer is none', () => {
    expect(parseAnswer('')).toBeUndefined();
  });
});
