import { describe, expect, test } from 'vitest';
import { environments, type FunctionName } from '#shared/config/environment.ts';
import type { Settings } from '../settings.ts';
import { named, ofType, type Resource, synthesise } from '../synthesise.ts';

const names = Object.keys(environments) as FunctionName[];
const secretArn = (name: string) => `arn:aws:secretsmanager:eu-central-1:111122223333:secret:${name}-AbCdEf`;
const everySetting: Partial<Settings> = {
  providerKeyArns: {
    ANTHROPIC_API_KEY: secretArn('anthropic'),
    OPENAI_API_KEY: secretArn('openai'),
    GEMINI_API_KEY: secretArn('gemini'),
  },
  variables: {
    LLM_PROVIDER: 'anthropic',
    MODEL: 'a-model',
    ANTHROPIC_BASE_URL: 'https://models.example.com',
    MAX_OUTPUT_TOKENS: '8192',
    MAX_HISTORY_TOKENS: '30000',
    MAX_HISTORY_MESSAGES: '50',
    MAX_STEPS_PER_TURN: '50',
    HISTORY_TTL_SECONDS: '86400',
    MAX_IDLE_TIME_MS: '900000',
    MSB_DEFAULT_FLAVOR: 'small',
    MSB_DEFAULT_TEMPLATE: 'python',
  },
};
const { compute } = synthesise();
const { compute: full } = synthesise({ settings: everySetting });

const idOf = (name: FunctionName) => `Functions${name.replaceAll('-', '')}`;
const functionOf = (name: FunctionName, template = compute): Resource =>
  named(template, 'AWS::Lambda::Function', idOf(name));
const statementsOf = (name: FunctionName, template = compute): readonly Statement[] =>
  named(template, 'AWS::IAM::Policy', `${idOf(name)}Role`).Properties.PolicyDocument.Statement;
type Statement = {
  readonly Action: string | readonly string[];
  readonly Effect: string;
  readonly Resource: unknown;
  readonly Condition?: unknown;
};
const actionsOf = (name: FunctionName, service: string, template = compute): readonly string[] =>
  statementsOf(name, template)
    .filter(({ Effect }) => Effect === 'Allow')
    .flatMap(({ Action }) => Action)
    .filter((action) => action.startsWith(`${service}:`))
    .sort();

describe('every function', () => {
  test.each(names)('%s has exactly the variables of its contract', (name) => {
    const { NODE_OPTIONS, ...variables } = functionOf(name, full).Properties.Environment.Variables;
    expect(Object.keys(variables).sort()).toEqual(Object.keys(environments[name].shape).sort());
    expect(NODE_OPTIONS).toBe('--enable-source-maps');
  });

  test.each(names)('%s without a setting leaves it to the default', (name) => {
    const variables = Object.keys(functionOf(name).Properties.Environment.Variables);
    const optional = Object.entries(environments[name].shape).flatMap(([key, schema]) =>
      schema.safeParse(undefined).success ? [key] : [],
    );
    expect(variables.filter((key) => optional.includes(key))).toEqual([]);
  });

  test.each(names)('%s runs Node 24 on arm64, traced, with JSON logs that are kept a month', (name) => {
    const { Runtime, Architectures, TracingConfig, LoggingConfig } = functionOf(name).Properties;
    expect({ Runtime, Architectures, TracingConfig, format: LoggingConfig.LogFormat }).toEqual({
      Runtime: 'nodejs24.x',
      Architectures: ['arm64'],
      TracingConfig: { Mode: 'Active' },
      format: 'JSON',
    });
    const group = compute.Resources[LoggingConfig.LogGroup.Ref];
    expect(group?.Properties.RetentionInDays).toBe(30);
  });

  test('has a role without managed policies', () => {
    for (const { Properties } of ofType(compute, 'AWS::IAM::Role'))
      expect(Properties.ManagedPolicyArns).toBeUndefined();
  });
});

describe('rights', () => {
  const items = [
    'BatchGetItem',
    'ConditionCheckItem',
    'DeleteItem',
    'GetItem',
    'PutItem',
    'Query',
    'UpdateItem',
  ].map((action) => `dynamodb:${action}`);
  const read = ['dynamodb:BatchGetItem', 'dynamodb:GetItem', 'dynamodb:Query'];
  const withIndex = [...items, 'dynamodb:Query'].sort();

  test.each<[FunctionName, readonly string[]]>([
    ['authorizer', ['dynamodb:DeleteItem']],
    ['socket', items],
    ['greeter', read],
    ['turn', items],
    ['sandbox-link', []],
    ['task-events', items],
    ['janitor', withIndex],
    ['api', withIndex],
  ])('%s does with the table what its code does, and never scans', (name, actions) => {
    expect(actionsOf(name, 'dynamodb')).toEqual(actions);
  });

  test.each<[FunctionName, readonly string[]]>([
    ['authorizer', []],
    ['socket', ['ecs:StopTask']],
    ['greeter', []],
    ['turn', ['ecs:RunTask', 'ecs:StopTask']],
    ['sandbox-link', []],
    ['task-events', []],
    ['janitor', ['ecs:DescribeTasks', 'ecs:ListTasks', 'ecs:StopTask']],
    ['api', ['ecs:RunTask', 'ecs:StopTask']],
  ])('%s does with sandboxes what its code does, in one cluster', (name, actions) => {
    expect(actionsOf(name, 'ecs')).toEqual(actions);
    const cluster = { 'Fn::GetAtt': [expect.stringMatching(/^SandboxesCluster/), 'Arn'] };
    for (const { Action, Condition } of statementsOf(name))
      if ([Action].flat().some((action) => action.startsWith('ecs:')))
        expect(Condition).toEqual({ ArnEquals: { 'ecs:cluster': cluster } });
  });

  test.each<[FunctionName, readonly string[]]>([
    ['authorizer', []],
    ['socket', ['greeter', 'turn']],
    ['greeter', []],
    ['turn', ['sandbox-link', 'turn']],
    ['sandbox-link', []],
    ['task-events', []],
    ['janitor', ['turn']],
    ['api', ['sandbox-link', 'turn']],
  ])('%s invokes whom it must', (name, targets) => {
    const statement = statementsOf(name).find(({ Action }) => Action === 'lambda:InvokeFunction');
    const text = JSON.stringify(statement?.Resource ?? '');
    const invoked = names.filter(
      (target) =>
        text.includes(`"${idOf(target)}Function`) || text.includes(`:function:sallyport-${target}"`),
    );
    expect(invoked.sort()).toEqual(targets);
  });

  test.each<[FunctionName, readonly string[]]>([
    ['authorizer', []],
    ['socket', ['DELETE', 'POST']],
    ['greeter', ['DELETE', 'POST']],
    ['turn', ['POST']],
    ['sandbox-link', []],
    ['task-events', ['POST']],
    ['janitor', ['POST']],
    ['api', ['POST']],
  ])('%s manages the connections of the one stage', (name, methods) => {
    const statement = statementsOf(name).find(({ Action }) => Action === 'execute-api:ManageConnections');
    const text = JSON.stringify(statement?.Resource ?? '');
    expect(
      [...text.matchAll(/"\/ws\/([A-Z]+)\/@connections\/\*"/g)].map(([, method]) => method).sort(),
    ).toEqual(methods);
  });

  test('the authorizer deletes tickets and nothing else', () => {
    const statement = statementsOf('authorizer').find(({ Action }) => Action === 'dynamodb:DeleteItem');
    expect(statement?.Condition).toEqual({
      'ForAllValues:StringLike': { 'dynamodb:LeadingKeys': ['TICKET#*'] },
    });
  });

  test('execution roles are passed to ECS tasks alone', () => {
    const passing = statementsOf('turn').find(({ Action }) => Action === 'iam:PassRole');
    expect(passing?.Condition).toEqual({
      StringEquals: { 'iam:PassedToService': 'ecs-tasks.amazonaws.com' },
    });
    expect(passing?.Resource).toEqual([
      { 'Fn::GetAtt': [expect.stringMatching(/^SandboxesnodeExecutionRole/), 'Arn'] },
      { 'Fn::GetAtt': [expect.stringMatching(/^SandboxespythonExecutionRole/), 'Arn'] },
    ]);
  });

  test('model keys are read by the turn alone', () => {
    const keys = Object.values(everySetting.providerKeyArns ?? {});
    const readers = names.filter((name) =>
      JSON.stringify(statementsOf(name, full)).includes(secretArn('openai')),
    );
    expect(readers).toEqual(['turn']);
    const reading = statementsOf('turn', full).filter(
      ({ Action }) => Action === 'secretsmanager:GetSecretValue',
    );
    expect(reading.flatMap(({ Resource }) => Resource)).toEqual(expect.arrayContaining(keys));
  });

  test('the secret of the sandboxes is read by those who reach into them', () => {
    const readers = names.filter((name) => actionsOf(name, 'secretsmanager').length > 0);
    expect(readers).toEqual(['turn', 'api']);
  });

  test('every right on all resources is one of these', () => {
    const onAll = names.flatMap((name) =>
      statementsOf(name)
        .filter(({ Effect, Resource }) => Effect === 'Allow' && Resource === '*')
        .flatMap(({ Action }) => [Action].flat().map((action) => `${name} ${action}`)),
    );
    const tracing = ['xray:PutTelemetryRecords', 'xray:PutTraceSegments'];
    const interfaces = [
      'ec2:AssignPrivateIpAddresses',
      'ec2:CreateNetworkInterface',
      'ec2:DeleteNetworkInterface',
      'ec2:DescribeNetworkInterfaces',
      'ec2:DescribeSubnets',
      'ec2:UnassignPrivateIpAddresses',
    ];
    expect(onAll.sort()).toEqual(
      [
        ...names.flatMap((name) => tracing.map((action) => `${name} ${action}`)),
        ...interfaces.map((action) => `sandbox-link ${action}`),
        'janitor ecs:ListTasks',
      ].sort(),
    );
  });

  test('no action is a pattern', () => {
    const actions = names.flatMap((name) => statementsOf(name).flatMap(({ Action }) => Action));
    expect(actions.filter((action) => action.includes('*'))).toEqual([]);
  });
});

describe('the link', () => {
  test('is the only function in the VPC, in the group that speaks to sandboxes alone', () => {
    const placed = names.filter((name) => functionOf(name).Properties.VpcConfig !== undefined);
    expect(placed).toEqual(['sandbox-link']);
    const { SecurityGroupIds, SubnetIds } = functionOf('sandbox-link').Properties.VpcConfig;
    expect(SecurityGroupIds).toEqual([{ 'Fn::ImportValue': expect.stringContaining('LinkGroup') }]);
    expect(SubnetIds).toEqual([{ 'Fn::ImportValue': expect.stringContaining('sandboxSubnet1') }]);
  });

  test('has code that may touch no network interface', () => {
    const denied = statementsOf('sandbox-link').filter(({ Effect }) => Effect === 'Deny');
    expect(denied).toEqual([
      {
        Action: expect.arrayContaining(['ec2:CreateNetworkInterface', 'ec2:DeleteNetworkInterface']),
        Condition: { Null: { 'lambda:SourceFunctionArn': 'false' } },
        Effect: 'Deny',
        Resource: '*',
      },
    ]);
  });
});

describe('the turn', () => {
  test('may run fifteen minutes and invoke itself without end', () => {
    const { Timeout, RecursiveLoop, FunctionName } = functionOf('turn').Properties;
    expect({ Timeout, RecursiveLoop, FunctionName }).toEqual({
      Timeout: 900,
      RecursiveLoop: 'Allow',
      FunctionName: 'sallyport-turn',
    });
  });

  test('is tried three times, and then kept for a person', () => {
    const config = named(compute, 'AWS::Lambda::EventInvokeConfig', 'Functionsturn').Properties;
    expect(config).toMatchObject({
      MaximumRetryAttempts: 2,
      DestinationConfig: {
        OnFailure: { Destination: { 'Fn::GetAtt': [expect.stringMatching(/^LostTurns/), 'Arn'] } },
      },
    });
  });

  test('has a concurrency of its own only when the settings say so', () => {
    const { compute: reserved } = synthesise({ settings: { turnConcurrencyMax: 20 } });
    expect(functionOf('turn').Properties.ReservedConcurrentExecutions).toBeUndefined();
    expect(functionOf('turn', reserved).Properties.ReservedConcurrentExecutions).toBe(20);
  });
});
