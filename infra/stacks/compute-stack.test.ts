import { describe, expect, test } from 'vitest';
import { janitorTask, scheduleTask } from '#shared/contracts/background-tasks.ts';
import { named, ofType, synthesise } from './synthesise.ts';

const { compute } = synthesise();

describe('the WebSocket', () => {
  const route = (key: string) =>
    ofType(compute, 'AWS::ApiGatewayV2::Route').find(({ Properties }) => Properties.RouteKey === key)
      ?.Properties;

  test('is a stage named ws, since a WebSocket URL has no path after its stage', () => {
    const stage = named(compute, 'AWS::ApiGatewayV2::Stage', 'SocketStage').Properties;
    expect(stage).toMatchObject({
      StageName: 'ws',
      AutoDeploy: true,
      DefaultRouteSettings: { ThrottlingBurstLimit: 1000, ThrottlingRateLimit: 500 },
    });
    expect(stage.AccessLogSettings.Format).not.toMatch(/querystring|header/i);
  });

  test('invokes the authorizer at every $connect, without a cache and an identity source', () => {
    const authorizer = named(compute, 'AWS::ApiGatewayV2::Authorizer', 'SocketApiAuthorizer').Properties;
    expect(authorizer.AuthorizerType).toBe('REQUEST');
    expect(authorizer.IdentitySource).toEqual([]);
    expect(authorizer.AuthorizerResultTtlInSeconds).toBeUndefined();
    expect(route('$connect')).toMatchObject({
      AuthorizationType: 'CUSTOM',
      AuthorizerId: { Ref: expect.stringMatching(/^SocketApiAuthorizer/) },
    });
  });

  test('sends every route to one function', () => {
    const routes = ofType(compute, 'AWS::ApiGatewayV2::Route').map(({ Properties }) => Properties.RouteKey);
    expect(routes).toEqual(['$connect', '$disconnect', '$default']);
    expect(ofType(compute, 'AWS::ApiGatewayV2::Integration')).toHaveLength(1);
    expect(JSON.stringify(ofType(compute, 'AWS::ApiGatewayV2::Integration'))).toContain('Functionssocket');
  });
});

describe('triggers of functions', () => {
  const rules = ofType(compute, 'AWS::Events::Rule').map(({ Properties }) => Properties);

  const timed = rules.filter(({ ScheduleExpression }) => ScheduleExpression !== undefined);
  const isOfSchedules = ({ Targets }: { Targets: [{ Input: string }] }): boolean =>
    Targets[0].Input === '{"sweep":"schedules"}';
  const sweeps = timed.filter((rule) => !isOfSchedules(rule as never));

  test('the janitor sweeps due work every minute, slots every five, orphans every ten, waits for lost MCP servers, and seals by the hour', () => {
    expect(sweeps.map(({ ScheduleExpression, Targets }) => [ScheduleExpression, Targets[0].Input])).toEqual([
      ['rate(1 minute)', '{"sweep":"due"}'],
      ['rate(5 minutes)', '{"sweep":"slots"}'],
      ['rate(10 minutes)', '{"sweep":"orphans"}'],
      ['rate(1 minute)', '{"sweep":"mcp","forSeconds":50}'],
      ['rate(1 hour)', '{"sweep":"seals"}'],
    ]);
    for (const { Targets } of sweeps)
      expect(Targets).toEqual([
        expect.objectContaining({
          Arn: { 'Fn::GetAtt': [expect.stringMatching(/^Functionsjanitor/), 'Arn'] },
          DeadLetterConfig: { Arn: { 'Fn::GetAtt': [expect.stringMatching(/^EventDeadLetters/), 'Arn'] } },
        }),
      ]);
  });

  test('a sweep that is not delivered at once is no dead letter until the next one is due', () => {
    const seconds = timed.map(({ ScheduleExpression }) => {
      const [, count, unit = ''] = /^rate\((\d+) (minute|hour)s?\)$/.exec(ScheduleExpression) ?? [];
      return Number(count) * (unit === 'hour' ? 3600 : 60);
    });
    expect(timed.map(({ Targets }) => Targets[0].RetryPolicy)).toEqual(
      seconds.map((age) => ({ MaximumEventAgeInSeconds: age, MaximumRetryAttempts: 5 })),
    );
  });

  test('the janitor understands the input of its rules', () => {
    for (const { Targets } of sweeps)
      expect(janitorTask.safeParse(JSON.parse(Targets[0].Input)).success).toBe(true);
  });

  test('schedules are swept every minute by their own function', () => {
    const [rule, ...others] = timed.filter((one) => isOfSchedules(one as never));
    expect(others).toEqual([]);
    expect(rule).toMatchObject({
      ScheduleExpression: 'rate(1 minute)',
      Targets: [
        {
          Arn: { 'Fn::GetAtt': [expect.stringMatching(/^Functionsschedules/), 'Arn'] },
          DeadLetterConfig: { Arn: { 'Fn::GetAtt': [expect.stringMatching(/^EventDeadLetters/), 'Arn'] } },
        },
      ],
    });
    expect(scheduleTask.safeParse(JSON.parse(rule?.Targets[0].Input)).success).toBe(true);
  });

  test('ECS task state changes of the cluster are delivered, retried, and retained when they fail', () => {
    const changes = rules.find(({ EventPattern }) => EventPattern !== undefined);
    expect(changes.EventPattern).toEqual({
      source: ['aws.ecs'],
      'detail-type': ['ECS Task State Change'],
      detail: { clusterArn: [{ 'Fn::GetAtt': [expect.stringMatching(/^SandboxesCluster/), 'Arn'] }] },
    });
    expect(changes.Targets[0]).toMatchObject({
      Arn: { 'Fn::GetAtt': [expect.stringMatching(/^Functionstaskevents/), 'Arn'] },
      DeadLetterConfig: { Arn: { 'Fn::GetAtt': [expect.stringMatching(/^EventDeadLetters/), 'Arn'] } },
      RetryPolicy: { MaximumEventAgeInSeconds: 3600, MaximumRetryAttempts: 10 },
    });
  });
});

test('the hash of the admin token is a parameter that is never shown', () => {
  expect(compute.Parameters?.['AdminTokenSha256']).toMatchObject({
    AllowedPattern: '[0-9a-f]{64}',
    NoEcho: true,
  });
});

test('dead letters are retained for two weeks, encrypted', () => {
  const queues = ofType(compute, 'AWS::SQS::Queue').map(({ Properties }) => Properties);
  expect(queues).toHaveLength(2);
  for (const queue of queues)
    expect(queue).toMatchObject({ MessageRetentionPeriod: 1_209_600, SqsManagedSseEnabled: true });
});
