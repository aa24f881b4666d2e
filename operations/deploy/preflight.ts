/**
 * The preflight of a deploy: Docker that builds for arm64, an account that is bootstrapped for the CDK and has what the
 * deployment needs, and stacks that CloudFormation can update. It changes nothing; one failure lists every problem with a next step.
 */
import { cloudFrontRegion } from '../../infra/settings.ts';
import { inRegion, judgeAccount } from './account-checks.ts';
import { type AccountFacts, readFacts } from './account-facts.ts';
import { type Aws, findStack, findStanding } from './aws.ts';
import type { Target } from './command.ts';
import { placesOf } from './inventory.ts';
import { lastingProblems, type Problem } from './lasting-settings.ts';
import { Failure, type Programs } from './programs.ts';

/** The oldest bootstrap whose roles and buckets the stacks can use (https://docs.aws.amazon.com/cdk/v2/guide/bootstrapping-env.html). */
const bootstrapVersionMin = 6;

/** Reads the account for the choices of a deploy; findings that do not stop the deploy are printed. */
export const checkPreflight = async (
  programs: Programs,
  target: Target,
  say: (line: string) => void,
): Promise<AccountFacts> => {
  const { aws, account, region, settings } = target;
  const regions = [...new Set(settings.firewall ? [region, cloudFrontRegion] : [region])];
  const facts = await readFacts(target);
  const isFirst = (await findStanding(aws, `${settings.deployment}-network`)) === undefined;
  const findings = judgeAccount(facts, { settings, region, isFirst }).map(inRegion(region));
  const problems = [
    await awsProblem(programs),
    await dockerProblem(programs, target.docker),
    ...(await Promise.all(
      regions.map((one) => bootstrapProblem(aws.in(one), account, settings.bootstrapQualifier)),
    )),
    ...(await Promise.all(placesOf(target).map((place) => stackProblem(place.aws, place.name)))),
    ...(await lastingProblems(target)),
    ...findings.filter(({ level }) => level === 'stop'),
  ].filter((problem) => problem !== undefined);
  for (const { level, problem, next } of findings) if (level !== 'stop') say(`Note: ${problem}. ${next}`);
  if (problems.length === 0) return facts;
  throw new Failure(
    problems.map(({ problem }) => problem).join('; '),
    problems.map(({ next }) => next),
  );
};

/** The first version knows no `--cli-binary-format`: all would be deployed, and the smoke test could not begin. */
const awsProblem = async (programs: Programs): Promise<Problem | undefined> => {
  const { out } = await programs.quiet('aws', ['--version']);
  return /^aws-cli\/1\./.test(out)
    ? {
        problem: `the aws program is ${out.split(' ')[0]}, and a deploy needs version 2`,
        next: 'Install it: https://docs.aws.amazon.com/cli/latest/userguide/getting-started-install.html',
      }
    : undefined;
};

/** Another builder that the CDK uses (`CDK_DOCKER=finch`) has commands of its own: it only has to answer. */
const dockerProblem = async (programs: Programs, docker: string): Promise<Problem | undefined> => {
  if (docker !== 'docker') {
    const { code } = await programs.quiet(docker, ['info']);
    return code === 0
      ? undefined
      : { problem: `${docker} does not answer`, next: `Start it: ${docker} info must succeed.` };
  }
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

/** Of the CDK. */
const qualifierDefault = 'hnb659fds';

const bootstrapProblem = async (
  aws: Aws,
  account: string,
  qualifier = qualifierDefault,
): Promise<Problem | undefined> => {
  const found = await aws.find<{ readonly Parameter: { readonly Value: string } }>(
    ['ParameterNotFound'],
    'ssm',
    'get-parameter',
    '--name',
    `/cdk-bootstrap/${qualifier}/version`,
  );
  const environment = `aws://${account}/${aws.region}`;
  const own = qualifier === qualifierDefault ? '' : ` --qualifier ${qualifier}`;
  const next = `Bootstrap it: npx cdk bootstrap ${environment}${own}`;
  if (found === undefined) return { problem: `${environment} is not bootstrapped for the CDK`, next };
  const version = Number(found.Parameter.Value);
  return version >= bootstrapVersionMin
    ? undefined
    : {
        problem: `${environment} is bootstrapped with version ${version}, and ${bootstrapVersionMin} is the oldest that works`,
        next,
      };
};

/** CloudFormation changes no stack that it is still changing, nor one whose rollback or deletion failed. */
const stackProblem = async (aws: Aws, name: string): Promise<Problem | undefined> => {
  const status = (await findStack(aws, name))?.status ?? '';
  const problem = `stack ${name} is ${status}`;
  const named = `--stack-name ${name} --region ${aws.region}`;
  // A change set that was not executed is no change.
  if (/_IN_PROGRESS$/.test(status) && status !== 'REVIEW_IN_PROGRESS')
    return {
      problem,
      next: 'Another deploy runs, or one that was interrupted goes on in AWS: wait for its end.',
    };
  if (status === 'UPDATE_ROLLBACK_FAILED')
    return { problem, next: `Let it end: aws cloudformation continue-update-rollback ${named}` };
  if (status === 'DELETE_FAILED')
    return { problem, next: `Delete it: aws cloudformation delete-stack ${named}` };
  return undefined;
};
