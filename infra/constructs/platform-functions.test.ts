import { describe, expect, test } from 'vitest';
import { environments, type FunctionName } from '#shared/config/environment.ts';
import { agentFlavor, flavors } from '#shared/domain/flavor.ts';
import { agentFlavor as allowedAlways, cpuUnits, type Flavor, type Settings } from '../settings.ts';
import { named, ofType, type Resource, synthesise } from '../stacks/synthesise.ts';
import { shapes } from './platform-function.ts';

const names = Object.keys(environments) as FunctionName[];
const secretArn = (name: string) => `arn:aws:secretsmanager:eu-central-1:111122223333:secret:${name}-AbCdEf`;
const keyArn = 'arn:aws:kms:eu-central-1:111122223333:key/0f3e4b6a-0000-4000-8000-000000000000';
const everySetting: Partial<Settings> = {
  projectSecretsKeyArn: keyArn,
  oidc: {
    issuer: 'https://id.example.com',
    audience: 'sallyport',
    scopeClaim: 'scope',
    defaultScope: 'admin:ro',
    client: {
      id: 'sallyport',
      secretArn: secretArn('oidc-client'),
      scopes: 'openid email',
      signInSeconds: 3600,
    },
  },
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
    MSB_SESSION_TIMEOUT_SECONDS: '1800',
    MSB_DEFAULT_FLAVOR: 'small',
    MSB_DEFAULT_TEMPLATE: 'python',
    MSB_MAX_SESSIONS: '10',
    MAX_AGENT_SLOTS: '10',
    MAX_CONVERSATIONS: '10000',
    MSB_EVICT_IDLE: 'true',
    PAUSED_TTL_SECONDS: '604800',
    WAIT_STOP_SECONDS: '120',
    POOL_SIZE: '2',
    ANTHROPIC_AUTH: 'key',
    ANTHROPIC_AWS_WORKSPACE_ID: 'wrkspc_1',
    OPENAI_BASE_URL: 'https://models.example.com/openai',
    OPENAI_API: 'chat',
    BEDROCK_REGION: 'eu-central-1',
    BEDROCK_BASE_URL: 'https://models.example.com/bedrock',
    GOOGLE_GEMINI_BASE_URL: 'https://models.example.com/gemini',
    MAX_COST_USD: '25',
    MAX_RECURSION_DEPTH: '3',
    MAX_AGENTS_PER_SESSION: '50',
    TURN_LEASE_SECONDS: '30',
    MAX_TOOL_SECONDS: '1800',
    TOOL_WAIT_SECONDS: '300',
    MODEL_PRICES: '{}',
    ENABLE_CONVERSATION_COMPRESSION: 'true',
    RATE_LIMIT_PER_SECOND: '10',
    RATE_LIMIT_BURST: '20',
    MSB_SHARED_VOLUME_PATH: '/srv/shared',
    MSB_SHARED_VOLUME_GUEST_PATH: '/shared',
    MCP_ALLOWED_PRIVATE_HOSTS: 'mcp.internal:8080',
    MCP_CHECK_SECONDS: '60',
    WEBHOOK_ALLOWED_PRIVATE_HOSTS: 'hooks.internal',
    MCP_AUTHORIZATION_SERVER: 'platform',
    EGRESS_ALLOW: '*.example.org',
    EGRESS_ALLOWED_PRIVATE_HOSTS: 'packages.internal',
    MAX_EGRESS_MB: '500',
    RELAY_IDLE_SECONDS: '60',
    WEBHOOK_RETRY_SECONDS: '5',
    PUBLIC_URL: 'https://sallyport.example',
    MAX_SNAPSHOTS: '20',
    SYNTHETIC_CHECK: 'true',
    SANDBOX_TEMPLATES: '[{"name": "science", "image": "public.ecr.aws/team/science:7"}]',
  },
};
const { compute, edge } = synthesise();
/** A value of another stack. */
const outputOf = (stack: string, name: RegExp) => ({
  'Fn::GetStackOutput': {
    StackName: `sallyport-${stack}`,
    OutputName: expect.stringMatching(name),
    Region: { Ref: 'AWS::Region' },
  },
});
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
  [
    ...new Set(
      statementsOf(name, template)
        .filter(({ Effect }) => Effect === 'Allow')
        .flatMap(({ Action }) => Action)
        .filter((action) => action.startsWith(`${service}:`)),
    ),
  ].sort();

describe('every function', () => {
  // One machine reports its own limits, its port and what it cannot build; on Fargate the default is the truth. The hardened stage has
  // a key that signs seals or a bucket that locks them.
  const ofOthers = [
    'AUDIT_SEAL_BUCKET',
    'AUDIT_SEAL_KEY',
    'SANDBOX_LIMITS',
    'SANDBOX_PORT',
    'TEMPLATES_PROBLEM',
  ];

  test.each(names)('%s has exactly the variables of its contract', (name) => {
    const variables = functionOf(name, full).Properties.Environment.Variables;
    const contract = Object.keys(environments[name].shape).filter((key) => !ofOthers.includes(key));
    expect(Object.keys(variables).sort()).toEqual(contract.sort());
  });

  test.each(names)('%s without a setting uses the default', (name) => {
    const variables = Object.keys(functionOf(name).Properties.Environment.Variables);
    const optional = Object.entries(environments[name].shape).flatMap(([key, schema]) =>
      schema.safeParse(undefined).success ? [key] : [],
    );
    expect(variables.filter((key) => optional.includes(key))).toEqual([]);
  });

  test.each(names)('%s runs Node 24 on arm64, traced, with JSON logs retained for a month', (name) => {
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

test('functions that start sandboxes and connect to them know that a shared volume is in the bucket', () => {
  const told = names.filter(
    (name) => functionOf(name, full).Properties.Environment.Variables.SHARED_VOLUME === 'bucket',
  );
  expect(told).toEqual(['turn', 'janitor', 'api', 'mcp']);
});

test('only functions that check credentials know the OIDC issuer', () => {
  const oidc = ['OIDC_AUDIENCE', 'OIDC_DEFAULT_SCOPE', 'OIDC_ISSUER', 'OIDC_SCOPE_CLAIM'];
  const told = names.flatMap((name) => {
    const variables = Object.keys(functionOf(name, full).Properties.Environment.Variables);
    const known = variables.filter((variable) => variable.startsWith('OIDC_')).sort();
    return known.length === 0 ? [] : [[name, known]];
  });
  expect(told).toEqual([
    ['authorizer', oidc],
    ['api', [...oidc, 'OIDC_CLIENT_ID', 'OIDC_CLIENT_SECRET', 'OIDC_LOGIN_SCOPES'].sort()],
    ['mcp', oidc],
  ]);
  const untold = JSON.stringify(names.map((name) => functionOf(name).Properties.Environment));
  expect(untold).not.toContain('OIDC_');
});

const isOfS3 = ({ Action }: Statement): boolean => [Action].flat().some((action) => action.startsWith('s3:'));

describe('permissions', () => {
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

  test.each<[FunctionName, readonly string[]]>([
    ['authorizer', ['dynamodb:GetItem', 'dynamodb:UpdateItem']],
    ['socket', items],
    ['on-connected', [...read, 'dynamodb:UpdateItem']],
    ['terminal', ['dynamodb:BatchGetItem', 'dynamodb:DeleteItem', 'dynamodb:GetItem', 'dynamodb:UpdateItem']],
    ['relay', items],
    ['turn', items],
    ['sandbox-link', []],
    ['task-events', items],
    ['janitor', ['dynamodb:BatchWriteItem', ...items].sort()],
    ['schedules', ['dynamodb:BatchWriteItem', ...items].sort()],
    ['api', ['dynamodb:BatchWriteItem', ...items].sort()],
    ['mcp', ['dynamodb:BatchWriteItem', ...items].sort()],
  ])('%s does with the table what its code does, and never scans', (name, actions) => {
    expect(actionsOf(name, 'dynamodb')).toEqual(actions);
  });

  test.each<[FunctionName, readonly string[]]>([
    ['authorizer', []],
    ['socket', []],
    ['on-connected', []],
    ['terminal', []],
    ['relay', []],
    ['turn', ['ecs:DescribeTasks', 'ecs:RunTask']],
    ['sandbox-link', []],
    ['task-events', []],
    ['janitor', ['ecs:DescribeTasks', 'ecs:ListTasks', 'ecs:RunTask', 'ecs:StopTask']],
    ['schedules', []],
    ['api', ['ecs:DescribeTasks', 'ecs:RunTask']],
    ['mcp', ['ecs:DescribeTasks', 'ecs:RunTask']],
  ])(
    '%s does with sandboxes what its code does, in one cluster: only the janitor stops them',
    (name, actions) => {
      expect(actionsOf(name, 'ecs')).toEqual(actions);
      const cluster = { 'Fn::GetAtt': [expect.stringMatching(/^SandboxesCluster/), 'Arn'] };
      for (const { Action, Condition } of statementsOf(name))
        if ([Action].flat().some((action) => action.startsWith('ecs:')))
          expect(Condition).toMatchObject({ ArnEquals: { 'ecs:cluster': cluster } });
    },
  );

  const starting = (template = compute) =>
    names.flatMap((name) => statementsOf(name, template).filter(({ Action }) => Action === 'ecs:RunTask'));

  test('a sandbox is started only from the two definitions, and without a shell or a volume', () => {
    expect(starting()).toHaveLength(4);
    for (const { Resource, Condition } of starting()) {
      const revisions = (family: string) => ({
        'Fn::Join': ['', expect.arrayContaining([`:task-definition/${family}:*`])],
      });
      expect(Resource).toEqual([revisions('sallyport-node'), revisions('sallyport-python')]);
      expect(Condition).toEqual({
        ArnEquals: { 'ecs:cluster': { 'Fn::GetAtt': [expect.stringMatching(/^SandboxesCluster/), 'Arn'] } },
        StringEqualsIfExists: { 'ecs:enable-execute-command': 'false', 'ecs:enable-ebs-volumes': 'false' },
      });
    }
    expect(names.flatMap((name) => actionsOf(name, 'ecs'))).not.toContain('ecs:ExecuteCommand');
  });

  test('no function may start a size that the settings do not allow', () => {
    const { compute: small } = synthesise({ settings: { flavorsAllowed: ['micro', 'small'] } });
    expect(starting(small)).toHaveLength(4);
    for (const { Condition } of starting(small))
      expect(Condition).toMatchObject({ NumericEquals: { 'ecs:task-cpu': ['512', '1024'] } });
    const units = Object.entries(flavors).map(([name, { task }]) => [name, task.cpuUnits]);
    expect(cpuUnits).toEqual(Object.fromEntries(units));
    expect(() => synthesise({ settings: { flavorsAllowed: ['micro'] } })).toThrow(
      'flavorsAllowed leaves out small, which sessions have by default: allow it, or set MSB_DEFAULT_FLAVOR',
    );
    const variables = { MSB_DEFAULT_FLAVOR: 'MICRO' };
    expect(() => synthesise({ settings: { flavorsAllowed: ['micro'], variables } })).not.toThrow();
  });

  test('the size of agent sessions, of the warm pool and of the synthetic check cannot be left out', () => {
    expect(allowedAlways).toBe(agentFlavor);
    expect(() => synthesise({ settings: { flavorsAllowed: ['small', 'medium'] } })).toThrow(
      'flavorsAllowed leaves out micro, which agent sessions and the synthetic check have by default: allow it',
    );
  });

  test('a size that no sandbox has is refused by its name', () => {
    const flavorsAllowed = ['micro', 'small', 'huge'] as unknown as readonly Flavor[];
    expect(() => synthesise({ settings: { flavorsAllowed } })).toThrow(
      'flavorsAllowed names huge: one of micro, small, medium, large',
    );
  });

  test.each<[FunctionName, readonly string[]]>([
    ['authorizer', []],
    ['socket', ['janitor', 'on-connected', 'sandbox-link', 'terminal', 'turn', 'webhooks']],
    ['terminal', ['relay', 'sandbox-link', 'terminal']],
    ['relay', ['mcp', 'relay', 'sandbox-link']],
    ['on-connected', []],
    ['turn', ['janitor', 'relay', 'sandbox-link', 'turn', 'webhooks']],
    ['sandbox-link', []],
    ['task-events', ['janitor', 'webhooks']],
    ['janitor', ['relay', 'sandbox-link', 'turn', 'webhooks']],
    ['schedules', ['janitor', 'sandbox-link', 'turn', 'webhooks']],
    ['webhooks', []],
    ['api', ['janitor', 'relay', 'sandbox-link', 'schedules', 'turn', 'webhooks']],
    ['mcp', ['janitor', 'relay', 'sandbox-link', 'schedules', 'turn', 'webhooks']],
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
    ['on-connected', ['DELETE', 'POST']],
    ['terminal', ['POST']],
    ['relay', ['POST']],
    ['turn', ['POST']],
    ['sandbox-link', []],
    ['task-events', ['POST']],
    ['janitor', ['DELETE', 'POST']],
    ['schedules', ['POST']],
    ['api', ['DELETE', 'POST']],
    ['mcp', ['DELETE', 'POST']],
  ])('%s manages the connections of the one stage', (name, methods) => {
    const statement = statementsOf(name).find(({ Action }) => Action === 'execute-api:ManageConnections');
    const text = JSON.stringify(statement?.Resource ?? '');
    expect(
      [...text.matchAll(/"\/ws\/([A-Z]+)\/@connections\/\*"/g)].map(([, method]) => method).sort(),
    ).toEqual(methods);
  });

  const bucket = outputOf('data', /Workspaces.*Arn/);
  const checkpoints = { 'Fn::Join': ['', [bucket, '/workspaces/*']] };
  const sharedVolumes = { 'Fn::Join': ['', [bucket, '/shared/*']] };
  const seals = { 'Fn::Join': ['', [bucket, '/audit/seals/*']] };
  const listSeals = {
    Action: 's3:ListBucket',
    Condition: { StringLikeIfExists: { 's3:prefix': ['audit/seals/*'] } },
    Effect: 'Allow',
    Resource: bucket,
  };

  test('the link reads and writes checkpoints and shared volumes under their prefixes, and may see that an object is missing', () => {
    expect(statementsOf('sandbox-link').filter(isOfS3)).toEqual([
      {
        Action: ['s3:AbortMultipartUpload', 's3:DeleteObject', 's3:GetObject', 's3:PutObject'],
        Effect: 'Allow',
        Resource: [sharedVolumes, checkpoints],
      },
      {
        Action: 's3:ListBucket',
        Condition: { StringLikeIfExists: { 's3:prefix': ['workspaces/*', 'shared/*'] } },
        Effect: 'Allow',
        Resource: bucket,
      },
    ]);
  });

  test('the janitor finds and deletes checkpoints, and reads none; it makes seals, and deletes none', () => {
    expect(statementsOf('janitor').filter(isOfS3)).toEqual([
      { Action: 's3:DeleteObject', Effect: 'Allow', Resource: checkpoints },
      {
        Action: 's3:ListBucket',
        Condition: { StringLike: { 's3:prefix': 'workspaces/*' } },
        Effect: 'Allow',
        Resource: bucket,
      },
      { Action: ['s3:GetObject', 's3:PutObject'], Effect: 'Allow', Resource: seals },
      listSeals,
    ]);
    expect(statementsOf('api').filter(isOfS3)).toEqual([
      { Action: 's3:GetObject', Effect: 'Allow', Resource: seals },
      listSeals,
    ]);
  });

  test('other functions that know the bucket have no access to it', () => {
    const informed = names.filter(
      (name) => functionOf(name).Properties.Environment.Variables.WORKSPACE_BUCKET !== undefined,
    );
    expect(informed).toEqual(['turn', 'sandbox-link', 'janitor', 'api', 'mcp']);
    expect(names.filter((name) => statementsOf(name).some(isOfS3))).toEqual([
      'sandbox-link',
      'janitor',
      'api',
    ]);
  });

  test('the authorizer marks tickets and reads tokens only', () => {
    const of = (wanted: string) =>
      statementsOf('authorizer').find(({ Action }) => Action === wanted)?.Condition;
    expect(of('dynamodb:UpdateItem')).toEqual({
      'ForAllValues:StringLike': { 'dynamodb:LeadingKeys': ['TICKET#*'] },
    });
    expect(of('dynamodb:GetItem')).toEqual({
      'ForAllValues:StringLike': { 'dynamodb:LeadingKeys': ['TOKEN#*'] },
    });
  });

  test('models of Bedrock may be called only where it is chosen, and only by what calls models', () => {
    const { compute: chosen } = synthesise({ settings: { variables: { LLM_PROVIDER: 'bedrock' } } });
    expect(names.filter((name) => actionsOf(name, 'bedrock').length > 0)).toEqual([]);
    const callers = names.filter((name) => actionsOf(name, 'bedrock', chosen).length > 0);
    expect(callers.toSorted()).toEqual(['api', 'turn']);
    expect(actionsOf('turn', 'bedrock', chosen)).toEqual(['bedrock:InvokeModelWithResponseStream']);
  });

  test('execution roles are passed to ECS tasks only', () => {
    const passing = statementsOf('turn').find(({ Action }) => Action === 'iam:PassRole');
    expect(passing?.Condition).toEqual({
      StringEquals: { 'iam:PassedToService': 'ecs-tasks.amazonaws.com' },
    });
    expect(passing?.Resource).toEqual([
      { 'Fn::GetAtt': [expect.stringMatching(/^SandboxesnodeExecutionRole/), 'Arn'] },
      { 'Fn::GetAtt': [expect.stringMatching(/^SandboxespythonExecutionRole/), 'Arn'] },
    ]);
  });

  test('schedules are in one group, managed by one function, which passes a role that may only invoke it', () => {
    const armers = names.filter((name) => actionsOf(name, 'scheduler').length > 0);
    expect(armers).toEqual(['schedules']);
    const statements = statementsOf('schedules');
    const createSchedules = statements.find(({ Action }) =>
      [Action].flat().includes('scheduler:CreateSchedule'),
    );
    expect(createSchedules?.Action).toEqual(['scheduler:CreateSchedule', 'scheduler:DeleteSchedule']);
    expect(JSON.stringify(createSchedules?.Resource)).toContain(':schedule/sallyport-runs/*');
    const role = { 'Fn::GetAtt': [expect.stringMatching(/^FunctionsSchedulesRole/), 'Arn'] };
    expect(statements.find(({ Action }) => Action === 'iam:PassRole')).toEqual({
      Action: 'iam:PassRole',
      Condition: { StringEquals: { 'iam:PassedToService': 'scheduler.amazonaws.com' } },
      Effect: 'Allow',
      Resource: role,
    });
    const policy = named(compute, 'AWS::IAM::Policy', 'FunctionsSchedulesRole').Properties.PolicyDocument;
    const woken = JSON.stringify(policy.Statement[0].Resource);
    expect(policy.Statement.map(({ Action }: Statement) => [Action].flat().sort())).toEqual([
      ['lambda:InvokeFunction'],
      ['sqs:GetQueueAttributes', 'sqs:GetQueueUrl', 'sqs:SendMessage'],
    ]);
    expect(woken).toContain(':function:sallyport-schedules"');
    const trust = named(compute, 'AWS::IAM::Role', 'FunctionsSchedulesRole').Properties;
    expect(trust.AssumeRolePolicyDocument.Statement).toEqual([
      {
        Action: 'sts:AssumeRole',
        Condition: {
          ArnEquals: {
            'aws:SourceArn': { 'Fn::GetAtt': [expect.stringMatching(/^FunctionsSchedulesGroup/), 'Arn'] },
          },
          StringEquals: { 'aws:SourceAccount': { Ref: 'AWS::AccountId' } },
        },
        Effect: 'Allow',
        Principal: { Service: 'scheduler.amazonaws.com' },
      },
    ]);
  });

  test('only the turn, the model broker and the list of models read model keys', () => {
    const keys = Object.values(everySetting.providerKeyArns ?? {});
    const readers = names.filter((name) =>
      JSON.stringify(statementsOf(name, full)).includes(secretArn('openai')),
    );
    expect(readers).toEqual(['turn', 'relay', 'api']);
    const reads = statementsOf('turn', full).filter(
      ({ Action }) => Action === 'secretsmanager:GetSecretValue',
    );
    expect(reads.flatMap(({ Resource }) => Resource)).toEqual(expect.arrayContaining(keys));
  });

  const projectSecrets = {
    'Fn::Join': [
      '',
      [
        'arn:',
        { Ref: 'AWS::Partition' },
        ':secretsmanager:',
        { Ref: 'AWS::Region' },
        ':',
        { Ref: 'AWS::AccountId' },
        ':secret:sallyport/sallyport/*',
      ],
    ],
  };
  /** Statements of the same actions come out as one. */
  const secretActionsOn = (name: FunctionName, resource: string): readonly string[] =>
    statementsOf(name)
      .filter(({ Resource }) => [Resource].flat().some((one) => JSON.stringify(one).includes(resource)))
      .flatMap(({ Action }) => Action);

  test('the API creates projects’ secrets, it and the janitor delete them, and functions that reach servers with them read them', () => {
    const told = names.filter(
      (name) => functionOf(name).Properties.Environment.Variables.PROJECT_SECRETS_PREFIX !== undefined,
    );
    expect(told).toEqual(['turn', 'relay', 'janitor', 'api']);
    const read = 'secretsmanager:GetSecretValue';
    const making = ['secretsmanager:CreateSecret', 'secretsmanager:DeleteSecret', read];
    const own = ':secret:sallyport/sallyport/*';
    expect(Object.fromEntries(names.map((name) => [name, secretActionsOn(name, own)]))).toEqual({
      ...Object.fromEntries(names.map((name) => [name, []])),
      turn: [read],
      relay: [read],
      janitor: ['secretsmanager:DeleteSecret', read],
      api: making,
    });
    const resources = names.flatMap((name) => statementsOf(name).flatMap(({ Resource }) => Resource));
    const onSecrets = resources.filter((one) => JSON.stringify(one).includes(':secretsmanager:'));
    expect(onSecrets).toEqual([projectSecrets, projectSecrets, projectSecrets, projectSecrets]);
  });

  test('the operator’s own key is used through Secrets Manager, for projects’ secrets only', () => {
    const users = names.flatMap((name) =>
      statementsOf(name, full).flatMap(({ Resource, Action, Condition }) =>
        Resource === keyArn ? [{ name, Action, Condition }] : [],
      ),
    );
    const Condition = {
      StringEquals: {
        'kms:ViaService': { 'Fn::Join': ['', ['secretsmanager.', { Ref: 'AWS::Region' }, '.amazonaws.com']] },
      },
      StringLike: { 'kms:EncryptionContext:SecretARN': [projectSecrets, 'RequestToValidateKeyAccess'] },
    };
    expect(users).toEqual([
      { name: 'turn', Action: 'kms:Decrypt', Condition },
      { name: 'relay', Action: 'kms:Decrypt', Condition },
      { name: 'janitor', Action: 'kms:Decrypt', Condition },
      { name: 'api', Action: ['kms:Decrypt', 'kms:GenerateDataKey'], Condition },
    ]);
  });

  test('functions that connect to sandboxes read the secret of the sandboxes', () => {
    const readers = names.filter((name) => secretActionsOn(name, 'SandboxSecret').length > 0);
    expect(readers).toEqual(['socket', 'terminal', 'turn', 'relay', 'janitor', 'schedules', 'api', 'mcp']);
  });

  test('every permission on all resources is in this list', () => {
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
  test('is the only function in the VPC, in the group that may connect only to sandboxes', () => {
    const placed = names.filter((name) => functionOf(name).Properties.VpcConfig !== undefined);
    expect(placed).toEqual(['sandbox-link']);
    const { SecurityGroupIds, SubnetIds } = functionOf('sandbox-link').Properties.VpcConfig;
    expect(SecurityGroupIds).toEqual([outputOf('network', /LinkGroup/)]);
    expect(SubnetIds).toEqual([outputOf('network', /sandboxSubnet1/)]);
  });

  test('has the memory to hash and upload concurrently, and the longest timeout', () => {
    const { MemorySize, Timeout } = functionOf('sandbox-link').Properties;
    expect({ MemorySize, Timeout }).toEqual({ MemorySize: 1024, Timeout: 900 });
  });

  test('has a role that the S3 endpoint identifies by its path, which no other role has', () => {
    const paths = ofType(compute, 'AWS::IAM::Role').flatMap(({ Properties }) => Properties.Path ?? []);
    expect(paths).toEqual(['/sallyport/sandbox-link/']);
    expect(named(compute, 'AWS::IAM::Role', idOf('sandbox-link')).Properties.Path).toBe(
      '/sallyport/sandbox-link/',
    );
  });

  test('has code that may create no network interface', () => {
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

describe('the janitor', () => {
  test('has five minutes', () => {
    expect(functionOf('janitor').Properties.Timeout).toBe(300);
  });

  test('is tried three times within six hours, and then moved to the dead-letter queue', () => {
    expect(named(compute, 'AWS::Lambda::EventInvokeConfig', idOf('janitor')).Properties).toMatchObject({
      MaximumEventAgeInSeconds: 21_600,
      MaximumRetryAttempts: 2,
      DestinationConfig: {
        OnFailure: { Destination: { 'Fn::GetAtt': [expect.stringMatching(/^EventDeadLetters/), 'Arn'] } },
      },
    });
  });

  test('may send lost events to its queue', () => {
    expect(actionsOf('janitor', 'sqs')).toEqual([
      'sqs:GetQueueAttributes',
      'sqs:GetQueueUrl',
      'sqs:SendMessage',
    ]);
    const sending = statementsOf('janitor').find(({ Action }) => [Action].flat().includes('sqs:SendMessage'));
    expect(sending?.Resource).toEqual({ 'Fn::GetAtt': [expect.stringMatching(/^EventDeadLetters/), 'Arn'] });
  });
});

test.each<FunctionName>(['api', 'mcp'])('%s may stream for fifteen minutes', (name) => {
  expect(functionOf(name).Properties.Timeout).toBe(900);
});

describe('the turn', () => {
  test('may run fifteen minutes and invoke itself without loop detection', () => {
    const { Timeout, RecursiveLoop, FunctionName } = functionOf('turn').Properties;
    expect({ Timeout, RecursiveLoop, FunctionName }).toEqual({
      Timeout: 900,
      RecursiveLoop: 'Allow',
      FunctionName: 'sallyport-turn',
    });
  });

  test('is tried three times, and then moved to the dead-letter queue', () => {
    const config = named(compute, 'AWS::Lambda::EventInvokeConfig', 'Functionsturn').Properties;
    expect(config).toMatchObject({
      MaximumRetryAttempts: 2,
      DestinationConfig: {
        OnFailure: { Destination: { 'Fn::GetAtt': [expect.stringMatching(/^TurnDeadLetters/), 'Arn'] } },
      },
    });
  });
});

describe('an asynchronous invocation', () => {
  const settingsOf = (name: FunctionName) =>
    named(compute, 'AWS::Lambda::EventInvokeConfig', idOf(name)).Properties;

  test.each<FunctionName>(['turn', 'task-events', 'janitor', 'schedules', 'webhooks'])(
    'of %s ends in a dead-letter queue after its retries',
    (name) => {
      const queue = name === 'turn' ? /^TurnDeadLetters/ : /^EventDeadLetters/;
      expect(settingsOf(name)).toMatchObject({
        MaximumRetryAttempts: 2,
        DestinationConfig: {
          OnFailure: { Destination: { 'Fn::GetAtt': [expect.stringMatching(queue), 'Arn'] } },
        },
      });
    },
  );

  /** An alarm counts what is dropped of them (`infra/observability/platform-alarms.ts`). */
  test.each([
    ['on-connected', 0, 60],
    ['relay', 0, 60],
    // A follower that died after its fifteen minutes is invoked again, twice.
    ['terminal', 2, 3600],
  ] as const)(
    'of %s is dropped when it is of no use any more: nobody would need its letter',
    (name, retries, seconds) => {
      const { DestinationConfig, ...rest } = settingsOf(name);
      expect(rest).toMatchObject({ MaximumRetryAttempts: retries, MaximumEventAgeInSeconds: seconds });
      expect(DestinationConfig).toBeUndefined();
      expect(actionsOf(name, 'sqs')).toEqual([]);
    },
  );

  /** Lambda waits a minute before the second attempt and two before the third, and drops an event whose age is over. */
  test.each(names.filter((name) => (shapes[name].retryAttempts ?? 0) > 0))(
    'of %s is still young enough for each attempt that it may have',
    (name) => {
      const { timeout, maxEventAge, retryAttempts = 0 } = shapes[name];
      const pauses = [1, 2].slice(0, retryAttempts).reduce((sum, minutes) => sum + minutes * 60, 0);
      const needed = timeout.toSeconds() * retryAttempts + pauses;
      expect(maxEventAge?.toSeconds() ?? needed).toBeGreaterThanOrEqual(needed);
    },
  );

  test('occurs only for these functions: other rules invoke only checks, which run again soon', () => {
    const unawaited = names.filter((name) => shapes[name].retryAttempts !== undefined);
    expect(unawaited.toSorted()).toEqual([
      ...['janitor', 'on-connected', 'relay', 'schedules', 'synthetic', 'task-events', 'terminal', 'turn'],
      'webhooks',
    ]);
    const woken = [compute, edge].flatMap((template) =>
      ofType(template, 'AWS::Events::Rule').flatMap(({ Properties }) =>
        Properties.Targets.map(({ Arn }: { Arn: object }) => JSON.stringify(Arn)),
      ),
    );
    expect(woken).toHaveLength(10);
    const isKnown = (arn: string): boolean => unawaited.some((name) => arn.includes(idOf(name)));
    expect(woken.filter((arn) => !isKnown(arn))).toEqual([]);
  });
});

describe('reserved concurrency', () => {
  test('is given by the settings, and no function has any by default', () => {
    const reservations = (template: typeof compute) =>
      names.flatMap((name) => {
        const { ReservedConcurrentExecutions: runs } = functionOf(name, template).Properties;
        return runs === undefined ? [] : [[name, runs]];
      });
    const { compute: reserved } = synthesise({ settings: { reservedConcurrency: { turn: 20, janitor: 2 } } });
    expect(reservations(compute)).toEqual([]);
    expect(reservations(reserved)).toEqual([
      ['turn', 20],
      ['janitor', 2],
    ]);
  });
});
