import { App, Stack, Validations } from 'aws-cdk-lib';
import { SubnetType, Vpc } from 'aws-cdk-lib/aws-ec2';
import { AwsSolutionsChecks } from 'cdk-nag';
import { describe, expect, test } from 'vitest';
import { named, ofType, synthesise, type Template } from '../stacks/synthesise.ts';
import { SandboxPlatform, type SandboxPlatformProps } from './sandbox-platform.ts';

const inOneStack = (props: SandboxPlatformProps): Template => {
  const app = new App({ context: { 'aws:cdk:bundling-stacks': [] } });
  const stack = new Stack(app, 'team');
  new SandboxPlatform(stack, 'Sandboxes', props);
  Validations.of(app).addPlugins(new AwsSolutionsChecks(app));
  return app.synth().getStackByName('team').template;
};

const countsByType = (...templates: readonly Template[]): Readonly<Record<string, number>> => {
  const types = templates.flatMap(({ Resources }) => Object.values(Resources).map(({ Type }) => Type));
  return Object.fromEntries(
    [...new Set(types)].sort().map((type) => [type, types.filter((one) => one === type).length]),
  );
};

describe('the platform in one stack of another app', () => {
  const team = inOneStack({});

  test('needs no setting, and passes the rules of cdk-nag', () => {
    expect(Object.keys(team.Resources).length).toBeGreaterThan(100);
  });

  test('has the resources of the default app but alarms and dashboard', () => {
    const { data, network, compute, edge } = synthesise();
    expect(countsByType(team)).toEqual(countsByType(data, network, compute, edge));
  });

  test('imports no resource', () => {
    expect(JSON.stringify(team)).not.toMatch(/Fn::(?:ImportValue|GetStackOutput)/);
  });

  test('has logs of API Gateway only if the role for them exists', () => {
    const stages = Object.values(team.Resources).filter(({ Type }) => /ApiGateway(V2)?::Stage$/.test(Type));
    const account = Object.keys(team.Resources).find(
      (id) => team.Resources[id]?.Type === 'AWS::ApiGateway::Account',
    );
    expect(stages).toHaveLength(2);
    for (const stage of stages) expect(Reflect.get(stage, 'DependsOn')).toContain(account);
  });

  test('takes the hash of a token instead of a parameter', () => {
    expect(Object.keys(team.Parameters ?? {}).filter((name) => name.includes('AdminToken'))).toHaveLength(1);
    const told = inOneStack({ adminTokenHash: 'a'.repeat(64) });
    expect(Object.keys(told.Parameters ?? {}).filter((name) => name.includes('AdminToken'))).toEqual([]);
  });

  test('bounds its roles and tags its resources as the settings say', () => {
    const permissionsBoundaryArn = 'arn:aws:iam::111122223333:policy/bound';
    const bound = inOneStack({ permissionsBoundaryArn, tags: { team: 'agents' } });
    const roles = ofType(bound, 'AWS::IAM::Role').map(({ Properties }) => Properties);
    const unbound = roles.filter(({ PermissionsBoundary }) => PermissionsBoundary !== permissionsBoundaryArn);
    // The CDK makes the roles of its own functions once for the stack, which belongs to the app.
    expect(unbound.filter(({ Tags }) => Tags !== undefined)).toEqual([]);
    expect(roles.length - unbound.length).toBeGreaterThan(15);
    const { Tags } = named(bound, 'AWS::DynamoDB::GlobalTable', 'Sandboxes').Properties.Replicas[0];
    expect(Tags).toContainEqual({ Key: 'team', Value: 'agents' });
    expect(Tags).toContainEqual({ Key: 'deployment', Value: 'sallyport' });
  });

  test('takes no setting of the default app alone', () => {
    // @ts-expect-error Alarms are those of the app.
    const props: SandboxPlatformProps = { alarmEmails: ['operator@example.com'] };
    expect(props).toBeDefined();
  });

  test('refuses an invalid setting', () => {
    expect(() => inOneStack({ variables: { MAX_STEPS_PER_TURN: '501' } })).toThrow(
      'MAX_STEPS_PER_TURN="501" is not allowed',
    );
  });
});

test('creates no VPC if one is given', () => {
  const app = new App({ context: { 'aws:cdk:bundling-stacks': [] } });
  const stack = new Stack(app, 'team');
  const vpc = new Vpc(stack, 'TeamVpc', {
    subnetConfiguration: [{ name: 'sandbox', subnetType: SubnetType.PRIVATE_ISOLATED }],
  });
  new SandboxPlatform(stack, 'Sandboxes', { vpc });
  const { template } = app.synth().getStackByName('team');
  expect(countsByType(template)['AWS::EC2::VPC']).toBe(1);
  expect(countsByType(template)['AWS::EC2::VPCEndpoint']).toBe(3);
});
