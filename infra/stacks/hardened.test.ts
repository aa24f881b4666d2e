import { describe, expect, test } from 'vitest';
import { stages } from '../settings.ts';
import { named, ofType, synthesise, type Template } from './synthesise.ts';

const usual = synthesise();
const hardened = synthesise({ settings: stages.hardened });
const stacksOf = (all: typeof usual): readonly Template[] =>
  Object.values(all).filter((template): template is Template => template !== undefined);
const every = (all: typeof usual, type: string) =>
  stacksOf(all).flatMap((template) => ofType(template, type));

describe('two zones', () => {
  test('have a subnet each, and the endpoints in both', () => {
    expect(ofType(hardened.network, 'AWS::EC2::Subnet')).toHaveLength(2);
    const interfaces = ofType(hardened.network, 'AWS::EC2::VPCEndpoint').map(
      ({ Properties }) => Properties.SubnetIds?.length,
    );
    expect(interfaces).toEqual([2, 2, undefined]);
    expect(ofType(hardened.network, 'AWS::EC2::Route')).toEqual([]);
  });
});

test('flow logs have every packet, where the default stage has only refused ones', () => {
  const kept = (all: typeof usual) =>
    ofType(all.network, 'AWS::EC2::FlowLog').map(({ Properties }) => Properties.TrafficType);
  expect(kept(usual)).toEqual(['REJECT']);
  expect(kept(hardened)).toEqual(['ALL']);
});

describe('logs', () => {
  test.each<[string, typeof usual, number]>([
    ['a month', usual, 30],
    ['a year', hardened, 365],
  ])('of all groups are kept for %s', (_, all, days) => {
    const groups = every(all, 'AWS::Logs::LogGroup').map(({ Properties }) => Properties.RetentionInDays);
    expect(groups.length).toBeGreaterThan(12);
    expect(new Set(groups)).toEqual(new Set([days]));
  });

  test('of every function have a log group of the stack, also those that the CDK adds', () => {
    for (const { Properties } of [
      ...every(usual, 'AWS::Lambda::Function'),
      ...every(hardened, 'AWS::Lambda::Function'),
    ])
      expect(Properties.LoggingConfig?.LogGroup).toBeDefined();
  });

  test('of API Gateway itself have a group that exists before it writes', () => {
    const [id, group] =
      Object.entries(usual.edge.Resources).find(([name]) => name.startsWith('ApiExecutionLogs')) ?? [];
    const { 'Fn::Join': joined } = group?.Properties.LogGroupName ?? {};
    expect(joined).toEqual([
      '',
      ['API-Gateway-Execution-Logs_', { Ref: expect.stringMatching(/^ApiRest/) }, '/live'],
    ]);
    expect(Reflect.get(named(usual.edge, 'AWS::ApiGateway::Stage', 'ApiRest'), 'DependsOn')).toContain(id);
  });
});

describe('a key of the account', () => {
  const key = named(hardened.data, 'AWS::KMS::Key', 'Encryption');
  const isKey = (value: unknown): boolean =>
    /"Fn::GetAtt":\["EncryptionKey\w+","Arn"\]|"StackName":"sallyport-hardened-data".*"OutputName":"PublishOutputFnGetAttEncryptionKey/.test(
      JSON.stringify(value ?? ''),
    );

  test('rotates each year and outlives the stack', () => {
    expect(key.Properties.EnableKeyRotation).toBe(true);
    expect(key.DeletionPolicy).toBe('RetainExceptOnCreate');
    expect(every(usual, 'AWS::KMS::Key')).toEqual([]);
  });

  test('that CloudWatch Logs may use for groups of this account', () => {
    const statement = key.Properties.KeyPolicy.Statement.find(({ Principal }: { Principal: object }) =>
      JSON.stringify(Principal).includes('logs.'),
    );
    expect(statement.Principal).toEqual({
      Service: { 'Fn::Join': ['', ['logs.', { Ref: 'AWS::Region' }, '.amazonaws.com']] },
    });
    expect(Object.keys(statement.Condition)).toEqual(['ArnLike']);
  });

  test('encrypts the table, the checkpoints and the secret', () => {
    const [replica] = named(hardened.data, 'AWS::DynamoDB::GlobalTable', 'Table').Properties.Replicas;
    expect(isKey(replica.SSESpecification.KMSMasterKeyId)).toBe(true);
    const [rule] = named(hardened.data, 'AWS::S3::Bucket', 'Workspaces').Properties.BucketEncryption
      .ServerSideEncryptionConfiguration;
    expect(rule.BucketKeyEnabled).toBe(true);
    expect(rule.ServerSideEncryptionByDefault.SSEAlgorithm).toBe('aws:kms');
    expect(isKey(rule.ServerSideEncryptionByDefault.KMSMasterKeyID)).toBe(true);
    expect(
      isKey(named(hardened.data, 'AWS::SecretsManager::Secret', 'SandboxSecret').Properties.KmsKeyId),
    ).toBe(true);
  });

  test('encrypts every log group', () => {
    const open = every(hardened, 'AWS::Logs::LogGroup').filter(
      ({ Properties }) => !isKey(Properties.KmsKeyId),
    );
    expect(open).toEqual([]);
  });

  test('encrypts projects’ secrets, unless they have a key of their own', () => {
    const keyOfSecrets = ({ compute }: typeof usual) =>
      named(compute, 'AWS::Lambda::Function', 'Functionsapi').Properties.Environment.Variables
        .PROJECT_SECRETS_KEY;
    expect(keyOfSecrets(usual)).toBeUndefined();
    expect(isKey(keyOfSecrets(hardened))).toBe(true);
    const own = 'arn:aws:kms:eu-central-1:111122223333:key/0f3e4b6a-0000-4000-8000-000000000000';
    const apart = synthesise({ settings: { ...stages.hardened, projectSecretsKeyArn: own } });
    expect(keyOfSecrets(apart)).toBe(own);
  });

  type Statement = {
    readonly Action: string | readonly string[];
    readonly Resource: unknown;
    readonly Condition?: object;
  };
  test('is used by each function only through its services', () => {
    const used = ofType(hardened.compute, 'AWS::IAM::Policy').flatMap(({ Properties }) =>
      Properties.PolicyDocument.Statement.flatMap((statement: Statement) =>
        [statement.Action].flat().some((action) => action.startsWith('kms:'))
          ? [{ role: Properties.Roles[0].Ref, ...statement }]
          : [],
      ),
    );
    const through = (start: string) =>
      used
        .filter(({ role }) => role.startsWith(`Functions${start}Role`))
        .map(({ Condition }) => /(dynamodb|s3|secretsmanager)[.]/.exec(JSON.stringify(Condition))?.[1])
        .sort();
    expect(
      used.filter(({ Condition }) => !JSON.stringify(Condition ?? '').includes('kms:ViaService')),
    ).toEqual([
      // The key that signs seals is used by no service.
      expect.objectContaining({
        Action: ['kms:GetPublicKey', 'kms:Sign'],
        role: expect.stringContaining('janitor'),
      }),
      expect.objectContaining({ Action: 'kms:GetPublicKey', role: expect.stringContaining('api') }),
    ]);
    expect(through('sandboxlink')).toEqual(['s3']);
    expect(through('onconnected')).toEqual(['dynamodb']);
    expect(through('turn')).toEqual(['dynamodb', 'secretsmanager', 'secretsmanager']);
  });

  test('is not created if one is given', () => {
    const keyArn = 'arn:aws:kms:eu-central-1:111122223333:key/0a0a0a0a-0000-4000-8000-000000000000';
    const { data } = synthesise({ settings: { encryption: { keyArn } } });
    // One for signatures, which the given key cannot make.
    expect(ofType(data, 'AWS::KMS::Key')).toMatchObject([{ Properties: { KeyUsage: 'SIGN_VERIFY' } }]);
    expect(JSON.stringify(named(data, 'AWS::DynamoDB::GlobalTable', 'Table').Properties.Replicas)).toContain(
      keyArn,
    );
  });
});

describe('the web firewall', () => {
  const acl = named(hardened.firewall as Template, 'AWS::WAFv2::WebACL', 'Acl').Properties;

  test('checks clients by reputation and rate but no body, since users send code', () => {
    expect(acl.Scope).toBe('CLOUDFRONT');
    expect(acl.DefaultAction).toEqual({ Allow: {} });
    expect(acl.Rules.map(({ Statement }: { Statement: object }) => Statement)).toEqual([
      { ManagedRuleGroupStatement: { VendorName: 'AWS', Name: 'AWSManagedRulesAmazonIpReputationList' } },
      { RateBasedStatement: { AggregateKeyType: 'IP', EvaluationWindowSec: 300, Limit: 3000 } },
    ]);
    expect(acl.Rules[1].Action.Block.CustomResponse).toEqual({
      CustomResponseBodyKey: 'rateLimited',
      ResponseCode: 429,
      // The body sends its reader to this header.
      ResponseHeaders: [{ Name: 'Retry-After', Value: '300' }],
    });
    const { error } = JSON.parse(acl.CustomResponseBodies.rateLimited.Content);
    expect(error).toMatchObject({
      code: 'rate_limited',
      suggestions: [expect.stringContaining('Retry-After')],
    });
  });

  test('is in front of CloudFront, found by the parameter of its own stack', () => {
    const { WebACLId } = named(hardened.edge, 'AWS::CloudFront::Distribution', 'Distribution').Properties
      .DistributionConfig;
    expect(WebACLId).toEqual({ 'Fn::GetAtt': [expect.stringMatching(/^Firewall/), 'Parameter.Value'] });
    const parameter = named(hardened.firewall as Template, 'AWS::SSM::Parameter', 'Arn').Properties;
    expect(parameter.Name).toBe('/sallyport/sallyport-hardened/web-firewall-arn');
    const asked = JSON.stringify(ofType(hardened.edge, 'Custom::AWS'));
    expect(asked).toContain('/sallyport/sallyport-hardened/web-firewall-arn');
    expect(asked).toContain('us-east-1');
  });

  describe('cannot be passed by the addresses of the APIs', () => {
    const key = {
      'Fn::Join': [
        '',
        [
          '{{resolve:secretsmanager:',
          { Ref: expect.stringMatching(/^OriginKeySecret/) },
          ':SecretString:::}}',
        ],
      ],
    };
    const { Origins } = named(hardened.edge, 'AWS::CloudFront::Distribution', 'Distribution').Properties
      .DistributionConfig;
    const required = ({ compute, edge }: typeof usual) =>
      [
        ...ofType(edge, 'AWS::ApiGateway::Method').map(({ Properties }) => Properties),
        ...ofType(compute, 'AWS::ApiGatewayV2::Route')
          .map(({ Properties }) => Properties)
          .filter(({ RouteKey }) => RouteKey === '$connect'),
      ].map(({ ApiKeyRequired }) => ApiKeyRequired);

    test('whose every method, and the connect of the WebSocket, require a key', () => {
      expect(required(hardened)).toEqual(Array(6).fill(true));
      expect(required(usual)).toEqual(Array(6).fill(false));
    });

    test('which CloudFront adds to requests to both, and not to those to the web app', () => {
      const added = Origins.map(
        ({ OriginCustomHeaders }: { OriginCustomHeaders?: object[] }) => OriginCustomHeaders,
      );
      const header = [{ HeaderName: 'x-api-key', HeaderValue: key }];
      expect(added).toEqual([undefined, header, header]);
    });

    test('and which is of the plan of both', () => {
      const { edge } = hardened;
      expect(named(edge, 'AWS::ApiGateway::ApiKey', 'OriginKey').Properties).toMatchObject({
        Enabled: true,
        Value: key,
      });
      const { ApiStages, Throttle, Quota } = named(
        edge,
        'AWS::ApiGateway::UsagePlan',
        'OriginKey',
      ).Properties;
      expect(ApiStages.map(({ Stage }: { Stage: unknown }) => Stage)).toEqual([
        { Ref: expect.stringMatching(/^ApiRestDeploymentStagelive/) },
        'ws',
      ]);
      expect([Throttle, Quota]).toEqual([undefined, undefined]);
      expect(ofType(edge, 'AWS::ApiGateway::UsagePlanKey')).toHaveLength(1);
      expect(every(usual, 'AWS::ApiGateway::ApiKey')).toEqual([]);
    });
  });

  test('is not created by default', () => {
    expect(usual.firewall).toBeUndefined();
    const { WebACLId } = named(usual.edge, 'AWS::CloudFront::Distribution', 'Distribution').Properties
      .DistributionConfig;
    expect(WebACLId).toBeUndefined();
  });
});

test('the wider stage adds no egress', () => {
  expect(JSON.stringify(hardened.network)).not.toMatch(/0\.0\.0\.0\/0|::\/0/);
  const gateways = Object.values(hardened.network.Resources).filter(({ Type }) =>
    /NatGateway|InternetGateway|Peering|TransitGateway|EIP/.test(Type),
  );
  expect(gateways).toEqual([]);
});
