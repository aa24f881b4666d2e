/**
 * The doctor of a deployment: its account, its stacks and alarms, and its public address, read and judged; with `--check` also a
 * turn and a sandbox. It changes nothing.
 */
import { type Finding, inRegion, judgeAccount, textOf } from './account-checks.ts';
import { readFacts } from './account-facts.ts';
import { readTokenState } from './admin-token.ts';
import { type Aws, findStack, resourcesOf } from './aws.ts';
import type { Command, Target } from './command.ts';
import { type Alarm, type DeploymentFacts, judgeDeployment, parseAnswer } from './doctor-checks.ts';
import { placesOf } from './inventory.ts';
import { Failure, type Programs } from './programs.ts';
import { checksOf, judgeResource } from './resource-checks.ts';
import { ownAddress, smokeTest } from './smoke-test.ts';

export const doctorCommand: Command<'check'> = {
  usage: [
    'usage: npm run doctor [-- --stage <name>] [--region <region>] [--settings <file>] [--check]',
    '',
    'Reads a deployment and its account, and says what is wrong, with a next step for each. It changes nothing.',
    '',
    '  --check  also runs a turn and a sandbox, and says how long each took',
  ].join('\n'),
  flags: ['check'],
  run: async ({ target, programs, terminal, check }) => {
    const { aws, settings, account, region } = target;
    terminal.say(`Account ${account}, ${region}: deployment ${settings.deployment}`);
    const url = (await findStack(aws, `${settings.deployment}-edge`))?.outputs['Url'];
    if (url === undefined)
      throw new Failure(`there is no deployment ${settings.deployment} in account ${account}, ${region}`, [
        'Choose another: --stage <name> and --region <region>.',
      ]);
    const facts = await readDeployment(programs, target, url);
    const found = facts.stacks.map(({ name }) => name);
    const findings = [
      ...judgeAccount(await readFacts(target), { settings, region, isFirst: false }),
      ...judgeDeployment(facts),
      ...(await judgeResources(target, found)),
    ].map(inRegion(region));
    for (const finding of findings) terminal.say(textOf(finding));
    if (check) findings.push(...(await smokeTest(target, terminal, await ownAddress(target, url))));
    const leaving = await readLeaving(aws, settings.deployment);
    terminal.say(leaving ?? 'How long sandboxes need to leave the network cannot be read.');
    const faults = findings.filter(({ level }) => level === 'stop').length;
    if (faults > 0) throw new Failure(faults === 1 ? '1 fault' : `${faults} faults`);
    terminal.say(findings.length === 0 ? 'Nothing is wrong.' : 'Nothing else is wrong.');
  },
};

const refusals = ['AccessDenied', 'AccessDeniedException', 'UnauthorizedOperation', 'AuthorizationError'];

const readDeployment = async (programs: Programs, target: Target, url: string): Promise<DeploymentFacts> => {
  const {
    aws,
    settings: { deployment },
  } = target;
  const places = placesOf(target);
  const found = await Promise.all(
    places.map(async (place) => ({
      stack: await findStack(place.aws, place.name),
      region: place.aws.region,
    })),
  );
  const stacks = found.flatMap(({ stack, region }) => (stack === undefined ? [] : [{ ...stack, region }]));
  const reasons: string[] = [];
  const get = async (path: string) => {
    const options = ['--silent', '--show-error', '--include', '--max-time', '30'];
    const { out, error, code } = await programs.quiet('curl', [...options, `${url}${path}`]);
    const answer = parseAnswer(out);
    if (answer === undefined) reasons.push(error.trim() || `curl ended with ${code}`);
    return answer;
  };
  const [refused, encoded] = [await get('/mcp'), await get('/api/sessions/a%2Fb')];
  const [reason] = reasons;
  return {
    stacks,
    missing: places.map(({ name }) => name).filter((name) => stacks.every((stack) => stack.name !== name)),
    alarms: await alarmsOf(aws, deployment),
    token: await readTokenState(aws, deployment),
    ...(reason !== undefined && { silent: { url, reason } }),
    ...(refused && { refused }),
    ...(encoded && { encoded }),
  };
};

const alarmsOf = async (aws: Aws, deployment: string): Promise<readonly Alarm[] | undefined> => {
  const words = ['describe-alarms', '--alarm-name-prefix', `${deployment}-observability`] as const;
  const found = await aws.find<{ readonly MetricAlarms: readonly Alarm[] }>(refusals, 'cloudwatch', ...words);
  return found?.MetricAlarms;
};

/** Each check of each resource, one call after the other. */
const judgeResources = async (target: Target, stacks: readonly string[]): Promise<readonly Finding[]> => {
  const findings: Finding[] = [];
  for (const { name, aws } of placesOf(target).filter((place) => stacks.includes(place.name))) {
    const all = await resourcesOf(aws, name);
    const ownVpc = all.find(({ type }) => type === 'AWS::EC2::VPC')?.physicalId;
    const vpcId = target.settings.network.existing?.vpcId ?? ownVpc;
    for (const held of all)
      for (const check of checksOf(held)) {
        const id = (check.isOfNetwork && vpcId) || held.physicalId;
        const read = await aws.read(refusals, ...check.ask(id));
        findings.push(...judgeResource(check, id, read).map(inRegion(aws.region)));
      }
  }
  return findings;
};

type Described = {
  readonly tasks: readonly { readonly executionStoppedAt?: string; readonly stoppedAt?: string }[];
};

/** As many as one call describes. */
const tasksMax = 100;

/**
 * A sentence on the time that sandboxes needed to leave the network after their end, as ECS has recorded it of tasks of the last
 * hour; undefined if the calls are refused. A task is not stopped until its network interface is detached and deleted: its address is
 * taken until then (https://docs.aws.amazon.com/AmazonECS/latest/developerguide/task-lifecycle-explanation.html, DEPROVISIONING).
 */
const readLeaving = async (aws: Aws, deployment: string): Promise<string | undefined> => {
  const held = await resourcesOf(aws, `${deployment}-compute`);
  const seconds: number[] = [];
  for (const { physicalId: cluster } of held.filter(({ type }) => type === 'AWS::ECS::Cluster')) {
    const list = ['ecs', 'list-tasks', '--cluster', cluster, '--desired-status', 'STOPPED'] as const;
    const listed = await aws.find<{ readonly taskArns: readonly string[] }>(refusals, ...list);
    if (listed === undefined) return undefined;
    if (listed.taskArns.length === 0) continue;
    const describe = ['ecs', 'describe-tasks', '--cluster', cluster, '--tasks'] as const;
    const found = await aws.find<Described>(refusals, ...describe, ...listed.taskArns.slice(0, tasksMax));
    if (found === undefined) return undefined;
    seconds.push(...found.tasks.flatMap(secondsOf));
  }
  return textOfSeconds(seconds);
};

/** Absent times: it ended before it ran, or is still leaving. */
const secondsOf = ({ executionStoppedAt, stoppedAt }: Described['tasks'][number]): readonly number[] =>
  executionStoppedAt === undefined || stoppedAt === undefined
    ? []
    : [(Date.parse(stoppedAt) - Date.parse(executionStoppedAt)) / 1000];

const textOfSeconds = (seconds: readonly number[]): string =>
  seconds.length === 0
    ? 'No sandbox has ended in the last hour: how long one needs to leave the network is not known.'
    : `Sandboxes that ended in the last hour left the network in ${Math.min(...seconds).toFixed(1)} to ${Math.max(...seconds).toFixed(1)} s.`;
