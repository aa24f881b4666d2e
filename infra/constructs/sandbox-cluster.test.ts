import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, describe, expect, test } from 'vitest';
import type { Settings } from '../settings.ts';
import { named, ofType, synthesise } from '../stacks/synthesise.ts';

const { compute } = synthesise();
const tasks = ofType(compute, 'AWS::ECS::TaskDefinition').map(({ Properties }) => Properties);
const containers = tasks.map(({ ContainerDefinitions }) => ContainerDefinitions);

/** Keys that AWS gives the check of a RunTask; a condition on another is never wrong under an operator with `IfExists` or `ForAllValues`. */
const keysOfRunTask =
  /^ecs:(?:cluster|capacity-provider|enable-ebs-volumes|enable-execute-command|task-cpu|task-memory)$/;

test('a start is judged by keys that AWS knows for it, and by no others', () => {
  const { compute: sized } = synthesise({ settings: { flavorsAllowed: ['micro', 'small'] } });
  const starts = [compute, sized].flatMap((template) =>
    ofType(template, 'AWS::IAM::Policy')
      .flatMap(({ Properties }) => Properties.PolicyDocument.Statement)
      .filter(({ Action }) => Action === 'ecs:RunTask'),
  );
  const keys = starts.flatMap(({ Condition }) =>
    Object.values<object>(Condition).flatMap((operator) => Object.keys(operator)),
  );
  expect(keys).toContain('ecs:task-cpu');
  expect(keys.filter((key) => !keysOfRunTask.test(key))).toEqual([]);
});

test('an image is pulled through the sandboxes’ network alone: a task that is started elsewhere never runs', () => {
  const roles = ofType(compute, 'AWS::IAM::Policy').filter(({ Properties }) =>
    JSON.stringify(Properties.Roles).includes('ExecutionRole'),
  );
  expect(roles).toHaveLength(2);
  for (const { Properties } of roles)
    expect(Properties.PolicyDocument.Statement).toContainEqual({
      Effect: 'Deny',
      Action: ['ecr:BatchCheckLayerAvailability', 'ecr:BatchGetImage', 'ecr:GetDownloadUrlForLayer'],
      Resource: '*',
      Condition: {
        StringNotEquals: {
          'aws:SourceVpc': {
            'Fn::GetStackOutput': {
              StackName: 'sallyport-network',
              OutputName: expect.stringMatching(/RefVpc/),
              Region: { Ref: 'AWS::Region' },
            },
          },
        },
      },
    });
});

test('there is one task definition per template', () => {
  expect(tasks.map(({ Family }) => Family)).toEqual(['sallyport-python', 'sallyport-node']);
});

describe.each(['python', 'node'])('a sandbox of template %s', (template) => {
  const task = named(compute, 'AWS::ECS::TaskDefinition', `Sandboxes${template}`).Properties;
  const [container] = task.ContainerDefinitions;

  test('has no identity in AWS', () => {
    expect(Object.keys(task)).not.toContain('TaskRoleArn');
  });

  test('is one container on arm64 Fargate that writes no log of its own', () => {
    expect(task).toMatchObject({
      Cpu: '512',
      Memory: '1024',
      NetworkMode: 'awsvpc',
      RequiresCompatibilities: ['FARGATE'],
      RuntimePlatform: { CpuArchitecture: 'ARM64', OperatingSystemFamily: 'LINUX' },
    });
    expect(task.ContainerDefinitions).toHaveLength(1);
    expect(container.Name).toBe('sandbox');
    expect(container.LogConfiguration).toBeUndefined();
  });

  test('starts as uid 0 with only SETUID, SETGID, SETPCAP and KILL of the default capabilities', () => {
    expect(container.User).toBe('0');
    expect(container.Privileged).toBeUndefined();
    expect(container.LinuxParameters.Capabilities).toEqual({
      Drop: [
        'AUDIT_WRITE',
        'CHOWN',
        'DAC_OVERRIDE',
        'FOWNER',
        'FSETID',
        'MKNOD',
        'NET_BIND_SERVICE',
        'NET_RAW',
        'SETFCAP',
        'SYS_CHROOT',
      ],
    });
  });

  test('has a read-only root, and three folders on its own disk', () => {
    expect(container.ReadonlyRootFilesystem).toBe(true);
    expect(container.MountPoints).toEqual([
      { ContainerPath: '/workspace', ReadOnly: false, SourceVolume: 'workspace' },
      { ContainerPath: '/tmp', ReadOnly: false, SourceVolume: 'tmp' },
      { ContainerPath: '/run/sallyport', ReadOnly: false, SourceVolume: 'relay' },
    ]);
    expect(task.Volumes).toEqual([{ Name: 'workspace' }, { Name: 'tmp' }, { Name: 'relay' }]);
  });

  test('gets its address to listen on, and no secret', () => {
    expect(container.Environment).toEqual([{ Name: 'SANDBOX_LISTEN', Value: 'tcp://0.0.0.0:8080' }]);
    expect(container.Secrets).toBeUndefined();
  });

  test('has a minute to stop: twenty seconds for a running checkpoint, and the rest for its processes', () => {
    expect(container.StopTimeout).toBe(60);
  });

  test('gets the memory of its container at each start, less than that of the task', () => {
    expect(container.Memory).toBeUndefined();
    expect(container.MemoryReservation).toBeUndefined();
  });

  test('is pulled by a role that may pull only this image', () => {
    const role = named(compute, 'AWS::IAM::Policy', `Sandboxes${template}ExecutionRole`);
    const actions = role.Properties.PolicyDocument.Statement.filter(
      ({ Effect }: { readonly Effect: string }) => Effect === 'Allow',
    ).flatMap(({ Action }: { readonly Action: string | string[] }) => Action);
    expect(actions).toEqual([
      'ecr:BatchCheckLayerAvailability',
      'ecr:BatchGetImage',
      'ecr:GetDownloadUrlForLayer',
      'ecr:GetAuthorizationToken',
    ]);
  });
});

test('an upgrade keeps the revision that functions with the old code start, and a destroy deletes the last', () => {
  for (const definition of ofType(compute, 'AWS::ECS::TaskDefinition'))
    expect([definition.UpdateReplacePolicy, definition.DeletionPolicy]).toEqual(['Retain', 'Delete']);
});

test('tasks have no role', () => {
  const held = ofType(compute, 'AWS::IAM::Role').filter(({ Properties }) =>
    JSON.stringify(Properties.AssumeRolePolicyDocument).includes('ecs-tasks'),
  );
  expect(held).toHaveLength(containers.length);
});

describe('a shared volume', () => {
  const withVolume = (path?: string) =>
    synthesise({
      settings: {
        variables: {
          MSB_SHARED_VOLUME_PATH: 'on',
          ...(path === undefined ? {} : { MSB_SHARED_VOLUME_GUEST_PATH: path }),
        },
      },
    });

  test.each([
    [undefined, '/shared'],
    ['/mnt/team', '/mnt/team'],
  ])('at %s is an additional folder on each task’s own disk, known to its server', (path, guestPath) => {
    const { compute: shared } = withVolume(path);
    for (const { Properties } of ofType(shared, 'AWS::ECS::TaskDefinition')) {
      const [only] = Properties.ContainerDefinitions;
      expect(only.MountPoints.at(-1)).toEqual({
        ContainerPath: guestPath,
        ReadOnly: false,
        SourceVolume: 'shared',
      });
      expect(only.MountPoints).toHaveLength(4);
      expect(Properties.Volumes.at(-1)).toEqual({ Name: 'shared' });
      expect(only.Environment).toEqual([
        { Name: 'SANDBOX_LISTEN', Value: 'tcp://0.0.0.0:8080' },
        { Name: 'SANDBOX_SHARED_PATH', Value: guestPath },
      ]);
    }
  });

  test.each([
    ['/workspace/shared', 'collides with /workspace'],
    ['/tmp', 'collides with /tmp'],
    ['/usr/share', 'collides with /usr'],
    ['/a/../etc', 'is not plain'],
    ['/shared/', 'is not plain'],
  ])('at %s stops the synth', (path, problem) => {
    expect(() => withVolume(path)).toThrow(problem);
  });
});

test('a template is built on the configured base image, or on the Dockerfile’s own', () => {
  const image = (template: string, settings: Partial<Settings> = {}): string =>
    JSON.stringify(
      named(synthesise({ settings }).compute, 'AWS::ECS::TaskDefinition', `Sandboxes${template}`).Properties
        .ContainerDefinitions[0].Image,
    );
  const settings = { templates: { python: { baseImage: 'public.ecr.aws/team/science:7' } } };
  expect(image('python', settings)).not.toBe(image('python'));
  expect(image('node', settings)).toBe(image('node'));
});

test('a base image that is named by its digest is another image with each digest', () => {
  const image = (digit: string): string => {
    const baseImage = `public.ecr.aws/docker/library/node@sha256:${digit.repeat(64)}`;
    const { compute: pinned } = synthesise({ settings: { templates: { node: { baseImage } } } });
    return JSON.stringify(
      named(pinned, 'AWS::ECS::TaskDefinition', 'Sandboxesnode').Properties.ContainerDefinitions[0].Image,
    );
  };
  expect(image('a')).not.toBe(image('b'));
});

describe('templates of the operator', () => {
  const folder = mkdtempSync(join(tmpdir(), 'templates-'));
  afterAll(() => rmSync(folder, { recursive: true, force: true }));
  const dockerfile = join(folder, 'Dockerfile');
  writeFileSync(dockerfile, 'FROM debian:12\n');
  const { compute: more } = synthesise({
    settings: {
      variables: {
        SANDBOX_TEMPLATES: JSON.stringify([
          { name: 'science', image: 'public.ecr.aws/team/science:7' },
          { name: 'web-tests', dockerfile },
        ]),
      },
    },
  });
  const task = (name: string) => named(more, 'AWS::ECS::TaskDefinition', `Sandboxes${name}`).Properties;
  const names = ['python', 'node', 'science', 'webtests'];

  test('each has a task definition and an image of its own, and the walls of the others', () => {
    const [, ...others] = names.map((name) => task(name));
    const { Image: _, ...walls } = task('node').ContainerDefinitions[0];
    expect(others.map(({ Family }) => Family)).toEqual([
      'sallyport-node',
      'sallyport_science',
      'sallyport_web-tests',
    ]);
    const images = others.map(({ ContainerDefinitions: [{ Image }] }) => JSON.stringify(Image));
    expect(new Set(images).size).toBe(3);
    for (const { ContainerDefinitions } of others) expect(ContainerDefinitions[0]).toMatchObject(walls);
  });

  test('and none is that of another deployment, whose name begins with this one’s', () => {
    const familiesOf = (deployment: string, name: string): readonly unknown[] => {
      const variables = { SANDBOX_TEMPLATES: JSON.stringify([{ name, image: 'public.ecr.aws/team/it:7' }]) };
      const { compute } = synthesise({ settings: { deployment, variables } });
      return ofType(compute, 'AWS::ECS::TaskDefinition').map(({ Properties }) => Properties.Family);
    };
    const all = [...familiesOf('sallyport', 'staging-python'), ...familiesOf('sallyport-staging', 'it')];
    expect(new Set(all).size).toBe(6);
  });

  test('functions that start sandboxes may run them, and know them by name', () => {
    const statements = named(more, 'AWS::IAM::Policy', 'FunctionsturnRole').Properties.PolicyDocument
      .Statement;
    const run = statements.find(({ Action }: { Action: unknown }) => Action === 'ecs:RunTask');
    expect(run.Resource).toHaveLength(names.length);
    const { Variables } = named(more, 'AWS::Lambda::Function', 'Functionsturn').Properties.Environment;
    const tasks = JSON.stringify(Variables.SANDBOX_TEMPLATE_TASKS);
    expect(tasks).toMatch(/science=.*Sandboxesscience.*,web-tests=.*Sandboxeswebtests/);
    expect(
      named(compute, 'AWS::Lambda::Function', 'Functionsturn').Properties.Environment.Variables,
    ).not.toHaveProperty('SANDBOX_TEMPLATE_TASKS');
  });
});
