/**
 * The doctor of a deployment: its account, its stacks and alarms, and its public address, read and judged; with `--check` also a
 * turn and a sandbox. It changes nothing.
 */
import { type Finding, judgeAccount, textOf } from './account-checks.ts';
import { readFacts } from './account-facts.ts';
import { readTokenState } from './admin-token.ts';
import { type Aws, findStack, resourcesOf, stackNames } from './aws.ts';
import type { Command, Target } from './command.ts';
import { type Alarm, type DeploymentFacts, judgeDeployment, parseAnswer } from './doctor-checks.ts';
import { Failure, type Programs } from './programs.ts';
import { checksOf, judgeResource } from './resource-checks.ts';
import { ownAddress, smokeTest } from './smoke-test.ts';
import { readLeaving } from './stopped-tasks.ts';

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
    ];
    for (const finding of findings) terminal.say(textOf(finding));
    if (check) findings.push(...(await smokeTest(target, terminal, await ownAddress(target, url))));
    const leaving = await readLeaving(aws, settings.deployment, refusals);
    terminal.say(leaving ?? 'How long sandboxes need to leave the network cannot be read.');
    const faults = findings.filter(({ level }) => level === 'stop').length;
    if (faults > 0) throw new Failure(faults === 1 ? '1 fault' : `${faults} faults`);
    terminal.say(findings.length === 0 ? 'Nothing is wrong.' : 'Nothing else is wrong.');
  },
};

const refusals = ['AccessDenied', 'AccessDeniedException', 'UnauthorizedOperation', 'AuthorizationError'];

const readDeployment = async (
  programs: Programs,
  { aws, settings: { deployment } }: Target,
  url: string,
): Promise<DeploymentFacts> => {
  const names = stackNames.map((name) => `${deployment}-${name}`);
  const stacks = (await Promise.all(names.map((name) => findStack(aws, name)))).flatMap(
    (stack) => stack ?? [],
  );
  const get = async (path: string) => {
    const { out } = await programs.quiet('curl', [
      '--silent',
      '--include',
      '--max-time',
      '30',
      `${url}${path}`,
    ]);
    return parseAnswer(out);
  };
  const [refused, encoded] = [await get('/mcp'), await get('/api/sessions/a%2Fb')];
  return {
    stacks,
    missing: names.filter((name) => stacks.every((stack) => stack.name !== name)),
    alarms: await alarmsOf(aws, deployment),
    token: await readTokenState(aws, deployment),
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
const judgeResources = async ({ aws }: Target, stacks: readonly string[]): Promise<readonly Finding[]> => {
  const findings: Finding[] = [];
  for (const name of stacks)
    for (const held of await resourcesOf(aws, name))
      for (const check of checksOf(held))
        findings.push(...judgeResource(check, held, await aws.read(refusals, ...check.ask(held.physicalId))));
  return findings;
};
