/** Preflight of a deploy: Docker builds for arm64, and the account is bootstrapped for the CDK. One failure lists every problem. */
import { cloudFrontRegion } from '../../infra/settings.ts';
import type { Aws } from './aws.ts';
import type { Target } from './command.ts';
import { Failure, type Programs } from './programs.ts';

/** The oldest bootstrap whose roles and buckets the stacks can use (https://docs.aws.amazon.com/cdk/v2/guide/bootstrapping-env.html). */
const bootstrapVersionMin = 6;

type Problem = { readonly problem: string; readonly next: string };

export const checkPreflight = async (programs: Programs, target: Target): Promise<void> => {
  const { aws, account, region, settings } = target;
  const regions = [...new Set(settings.firewall ? [region, cloudFrontRegion] : [region])];
  const problems = [
    await dockerProblem(programs),
    ...(await Promise.all(regions.map((one) => bootstrapProblem(aws.in(one), account)))),
  ].filter((problem) => problem !== undefined);
  if (problems.length === 0) return;
  throw new Failure(
    problems.map(({ problem }) => problem).join('; '),
    problems.map(({ next }) => next),
  );
};

const dockerProblem = async (programs: Programs): Promise<Problem | undefined> => {
  const version = await programs.quiet('docker', ['version', '--format', '{{.Server.Arch}}']);
  if (version.code !== 0)
    return {
      problem: 'Docker does not answer',
      next: 'Start Docker, or wait until it has started: docker version must name a server.',
    };
  if (version.out.trim() === 'arm64') return undefined;
  const builders = await programs.quiet('docker', ['buildx', 'inspect', '--bootstrap']);
  if (builders.code === 0 && builders.out.includes('linux/arm64')) return undefined;
  return {
    problem: `Docker on ${version.out.trim()} does not build for arm64, which sandboxes run on`,
    next: 'Add QEMU: docker run --privileged --rm tonistiigi/binfmt --install arm64',
  };
};

const bootstrapProblem = async (aws: Aws, account: string): Promise<Problem | undefined> => {
  const found = await aws.find<{ readonly Parameter: { readonly Value: string } }>(
    ['ParameterNotFound'],
    'ssm',
    'get-parameter',
    '--name',
    '/cdk-bootstrap/hnb659fds/version',
  );
  const environment = `aws://${account}/${aws.region}`;
  const next = `Bootstrap it: npx cdk bootstrap ${environment}`;
  if (found === undefined) return { problem: `${environment} is not bootstrapped for the CDK`, next };
  const version = Number(found.Parameter.Value);
  return version >= bootstrapVersionMin
    ? undefined
    : {
        problem: `${environment} is bootstrapped with version ${version}, and ${bootstrapVersionMin} is the oldest that works`,
        next,
      };
};
