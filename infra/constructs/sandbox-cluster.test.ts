import { describe, expect, test } from 'vitest';
import type { Settings } from '../settings.ts';
import { named, ofType, synthesise } from '../stacks/synthesise.ts';

const { compute } = synthesise();
const tasks = ofType(compute, 'AWS::ECS::TaskDefinition').map(({ Properties }) => Properties);
const containers = tasks.map(({ ContainerDefinitions }) => ContainerDefinitions);

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

  test('starts as uid 0 with only SETUID, SETGID and KILL of the default capabilities', () => {
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
        'SETPCAP',
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
    const actions = role.Properties.PolicyDocument.Statement.flatMap(
      ({ Action }: { readonly Action: string | string[] }) => Action,
    );
    expect(actions).toEqual([
      'ecr:BatchCheckLayerAvailability',
      'ecr:BatchGetImage',
      'ecr:GetDownloadUrlForLayer',
      'ecr:GetAuthorizationToken',
    ]);
  });
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
