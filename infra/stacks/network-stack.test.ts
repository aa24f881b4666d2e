import { subscribe, unsubscribe } from 'node:diagnostics_channel';
import type { ClientRequest } from 'node:http';
import { describe, expect, test, vi } from 'vitest';
import { openWorkspaceBucket } from '#shared/adapters/aws/workspace-bucket.ts';
import { named, ofType, synthesise } from './synthesise.ts';

const { network, compute } = synthesise();
const all = Object.values(network.Resources);
const group = (prefix: string) => named(network, 'AWS::EC2::SecurityGroup', prefix).Properties;
const idOf = (prefix: string) => {
  const id = Object.keys(network.Resources).find((key) => key.startsWith(prefix));
  return { 'Fn::GetAtt': [id, 'GroupId'] };
};

describe('there is no egress', () => {
  test('no gateway leads to another network', () => {
    const doors = all
      .map(({ Type }) => Type)
      .filter((type) => /Gateway|Peering|CarrierGateway|VPNConnection|EIP|TransitGateway/.test(type));
    expect(doors).toEqual([]);
  });

  test('no route is written: a subnet has its own network and the S3 endpoint', () => {
    expect(ofType(network, 'AWS::EC2::Route')).toEqual([]);
  });

  test('no subnet assigns public addresses', () => {
    const subnets = ofType(network, 'AWS::EC2::Subnet');
    expect(subnets.map(({ Properties }) => Properties.MapPublicIpOnLaunch)).toEqual([false]);
  });

  test('no rule of a security group names the whole internet', () => {
    expect(JSON.stringify(network)).not.toMatch(/0\.0\.0\.0\/0|::\/0/);
  });

  test('a sandbox connects to the pull endpoints and to S3, on 443, by rules inside its group', () => {
    const { SecurityGroupEgress: egress } = group('SandboxGroup');
    expect(egress).toEqual([
      {
        Description: 'image pulls',
        DestinationSecurityGroupId: idOf('EndpointGroup'),
        FromPort: 443,
        IpProtocol: 'tcp',
        ToPort: 443,
      },
      {
        Description: 'image layers',
        DestinationPrefixListId: {
          'Fn::GetAtt': [expect.stringMatching(/^S3PrefixList/), 'PrefixLists.0.PrefixListId'],
        },
        FromPort: 443,
        IpProtocol: 'tcp',
        ToPort: 443,
      },
    ]);
  });

  test('the link connects only to sandboxes on 8080 and to S3 on 443', () => {
    expect(group('LinkGroup').SecurityGroupEgress).toEqual([
      {
        Description: 'requests to the sandbox',
        DestinationSecurityGroupId: idOf('SandboxGroup'),
        FromPort: 8080,
        IpProtocol: 'tcp',
        ToPort: 8080,
      },
      {
        Description: 'checkpoints',
        DestinationPrefixListId: {
          'Fn::GetAtt': [expect.stringMatching(/^S3PrefixList/), 'PrefixLists.0.PrefixListId'],
        },
        FromPort: 443,
        IpProtocol: 'tcp',
        ToPort: 443,
      },
    ]);
  });

  test('no egress is attached to a group from outside it', () => {
    expect(ofType(network, 'AWS::EC2::SecurityGroupEgress')).toEqual([]);
    expect(ofType(compute, 'AWS::EC2::SecurityGroupEgress')).toEqual([]);
  });
});

describe('there is one entrance', () => {
  test('sandboxes accept the link, endpoints accept sandboxes, and no other source is accepted', () => {
    const rules = ofType(network, 'AWS::EC2::SecurityGroupIngress').map(({ Properties }) => Properties);
    const rule = ({ to, from, port }: { to: string; from: string; port: number }) => ({
      Description: expect.any(String),
      FromPort: port,
      GroupId: idOf(to),
      IpProtocol: 'tcp',
      SourceSecurityGroupId: idOf(from),
      ToPort: port,
    });
    expect(rules).toHaveLength(2);
    expect(rules).toEqual(
      expect.arrayContaining([
        rule({ to: 'SandboxGroup', from: 'LinkGroup', port: 8080 }),
        rule({ to: 'EndpointGroup', from: 'SandboxGroup', port: 443 }),
      ]),
    );
    for (const { Properties } of ofType(network, 'AWS::EC2::SecurityGroup'))
      expect(Properties.SecurityGroupIngress).toBeUndefined();
  });

  test('the default security group is emptied', () => {
    expect(ofType(network, 'Custom::VpcRestrictDefaultSG')).toHaveLength(1);
  });
});

describe('DNS', () => {
  test('resolves only the three names of an image pull and S3, and nothing when the firewall fails', () => {
    const { Create, Update } = named(network, 'Custom::AWS', 'DnsFailClosed').Properties;
    for (const { 'Fn::Join': call } of [Create, Update])
      expect(call[1].join('')).toMatch(/"action":"UpdateFirewallConfig".*"FirewallFailOpen":"DISABLED"/);
    const [{ Properties: rules } = { Properties: undefined }] = ofType(
      network,
      'AWS::Route53Resolver::FirewallRuleGroup',
    );
    const list = (prefix: string) => ({ 'Fn::GetAtt': [expect.stringMatching(`^${prefix}`), 'Id'] });
    expect(rules.FirewallRules).toEqual([
      {
        Action: 'ALLOW',
        FirewallDomainListId: list('DnsAllowed'),
        FirewallDomainRedirectionAction: 'TRUST_REDIRECTION_DOMAIN',
        Priority: 1,
      },
      {
        Action: 'BLOCK',
        BlockResponse: 'NXDOMAIN',
        FirewallDomainListId: list('DnsEverything'),
        Priority: 2,
      },
    ]);
    expect(
      named(network, 'AWS::Route53Resolver::FirewallDomainList', 'DnsEverything').Properties.Domains,
    ).toEqual(['*']);
    const allowed = named(network, 'AWS::Route53Resolver::FirewallDomainList', 'DnsAllowed').Properties
      .Domains;
    expect(allowed.map(plain)).toEqual([
      'api.ecr.REGION.SUFFIX',
      'ACCOUNT.dkr.ecr.REGION.SUFFIX',
      'prod-REGION-starport-layer-bucket.s3.REGION.SUFFIX',
      's3.REGION.SUFFIX',
    ]);
  });

  test('resolves the one name by which the link requests objects, whatever the bucket', async () => {
    vi.stubEnv('AWS_REGION', 'eu-central-1');
    vi.stubEnv('AWS_ACCESS_KEY_ID', 'id');
    vi.stubEnv('AWS_SECRET_ACCESS_KEY', 'key');
    const asked: string[] = [];
    const refuse = (message: unknown): void => {
      const { request } = message as { readonly request: ClientRequest };
      asked.push(request.host);
      request.destroy(new Error('not sent'));
    };
    subscribe('http.client.request.start', refuse);
    try {
      await expect(openWorkspaceBucket('a-bucket').read('a-key', 1)).rejects.toThrow('not sent');
    } finally {
      unsubscribe('http.client.request.start', refuse);
      vi.unstubAllEnvs();
    }
    expect(asked).toEqual(['s3.eu-central-1.amazonaws.com']);
  });

  test('is filtered in the VPC of the sandboxes', () => {
    const [association] = ofType(network, 'AWS::Route53Resolver::FirewallRuleGroupAssociation');
    const closing = named(network, 'Custom::AWS', 'DnsFailClosed').Properties.Create['Fn::Join'][1];
    const vpc = {
      Ref: Object.keys(network.Resources).find((id) => network.Resources[id]?.Type === 'AWS::EC2::VPC'),
    };
    expect(association?.Properties.VpcId).toEqual(vpc);
    expect(closing).toContainEqual(vpc);
  });
});

describe('endpoints', () => {
  const endpoints = ofType(network, 'AWS::EC2::VPCEndpoint').map(({ Properties }) => Properties);

  test('are the three that an image pull needs', () => {
    expect(
      endpoints.map(({ ServiceName, VpcEndpointType }) => [plain(ServiceName), VpcEndpointType]),
    ).toEqual([
      ['com.amazonaws.REGION.ecr.api', 'Interface'],
      ['com.amazonaws.REGION.ecr.dkr', 'Interface'],
      ['com.amazonaws.REGION.s3', 'Gateway'],
    ]);
  });

  test('allow pulls of the platform’s repository by its account, layers, and checkpoints by the link', () => {
    const statements = endpoints.map(({ PolicyDocument }) => PolicyDocument.Statement);
    const ours = { StringEquals: { 'aws:PrincipalAccount': { Ref: 'AWS::AccountId' } } };
    const [api, docker, s3] = statements;
    expect(api).toEqual(docker);
    expect(
      api.map((statement: Statement) => [statement.Action, plain(statement.Resource), statement.Condition]),
    ).toEqual([
      ['ecr:GetAuthorizationToken', '*', ours],
      [
        ['ecr:BatchCheckLayerAvailability', 'ecr:BatchGetImage', 'ecr:GetDownloadUrlForLayer'],
        'arn:PARTITION:ecr:REGION:ACCOUNT:repository/cdk-hnb659fds-container-assets-ACCOUNT-REGION',
        ours,
      ],
    ]);
    const link = 'arn:PARTITION:iam::ACCOUNT:role/sallyport/sandbox-link/*';
    expect(
      s3.map(({ Principal, Action, Resource, Condition }: Statement) => [
        Principal,
        Action,
        [Resource].flat().map(plain),
        plain(Condition?.ArnLike['aws:PrincipalArn'] ?? 'anybody'),
      ]),
    ).toEqual([
      [{ AWS: '*' }, 's3:GetObject', ['arn:PARTITION:s3:::prod-REGION-starport-layer-bucket/*'], 'anybody'],
      [
        { AWS: '*' },
        ['s3:AbortMultipartUpload', 's3:DeleteObject', 's3:GetObject', 's3:PutObject'],
        ['BUCKET/shared/*', 'BUCKET/workspaces/*'],
        link,
      ],
      [{ AWS: '*' }, 's3:ListBucket', ['BUCKET'], link],
    ]);
  });

  test('give a sandbox no access to the bucket: it has no identity, and the roles that start it differ', () => {
    const [, , s3] = endpoints.map(({ PolicyDocument }) => PolicyDocument.Statement);
    const ofBucket = s3.filter(({ Resource }: Statement) =>
      [Resource].flat().some((resource) => plain(resource).startsWith('BUCKET')),
    );
    expect(ofBucket.map(({ Condition }: Statement) => Object.keys(Condition ?? {}))).toEqual([
      ['ArnLike'],
      ['ArnLike'],
    ]);
    for (const { Properties } of ofType(compute, 'AWS::ECS::TaskDefinition'))
      expect(Properties.TaskRoleArn).toBeUndefined();
  });

  test('identify the link of their own deployment', () => {
    const { network: other } = synthesise({ settings: { deployment: 'other' } });
    expect(JSON.stringify(ofType(other, 'AWS::EC2::VPCEndpoint'))).toContain(':role/other/sandbox-link/*');
  });

  test('allow the repository that the sandboxes pull from', () => {
    const [task] = ofType(compute, 'AWS::ECS::TaskDefinition');
    const image = plain(task?.Properties.ContainerDefinitions[0].Image);
    expect(image).toMatch(
      /^ACCOUNT[.]dkr[.]ecr[.]REGION[.]SUFFIX\/cdk-hnb659fds-container-assets-ACCOUNT-REGION:/,
    );
  });

  test('one zone has one interface each, three zones have three', () => {
    const wide = synthesise({ settings: { network: { cidr: '10.0.0.0/16', zones: 3 } } }).network;
    const subnets = ofType(wide, 'AWS::EC2::VPCEndpoint').map(
      ({ Properties }) => Properties.SubnetIds?.length,
    );
    expect(subnets).toEqual([3, 3, undefined]);
    expect(endpoints.map(({ SubnetIds }) => SubnetIds?.length)).toEqual([1, 1, undefined]);
  });
});

type Statement = {
  readonly Principal: unknown;
  readonly Action: unknown;
  readonly Resource: unknown;
  readonly Condition?: { readonly ArnLike: Readonly<Record<string, unknown>> };
};

/** CloudFormation's joins and substitutions as one text. */
const plain = (value: unknown): string => {
  const names: Record<string, string> = {
    'AWS::Region': 'REGION',
    'AWS::AccountId': 'ACCOUNT',
    'AWS::URLSuffix': 'SUFFIX',
    'AWS::Partition': 'PARTITION',
  };
  if (typeof value === 'string') return value;
  const {
    Ref: ref,
    'Fn::Join': join,
    'Fn::Sub': sub,
    'Fn::GetStackOutput': output,
  } = value as {
    'Fn::GetStackOutput'?: { readonly OutputName: string };
    Ref?: string;
    'Fn::Join'?: [string, unknown[]];
    'Fn::Sub'?: string;
  };
  if (output !== undefined) return /Workspaces.*Arn/.test(output.OutputName) ? 'BUCKET' : output.OutputName;
  if (ref !== undefined) return names[ref] ?? ref;
  if (sub !== undefined) return sub.replace(/\$\{([^}]+)\}/g, (_, name) => names[name] ?? name);
  return join?.[1].map(plain).join(join[0]) ?? '';
};
