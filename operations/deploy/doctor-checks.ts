/**
 * Judgement of a deployment as it runs, by what AWS and its own address answer. Pure. Besides faults it settles assumptions that
 * no test on one machine can: they are listed in docs/deploy.md as unproved.
 */
import type { Finding } from './account-checks.ts';
import type { TokenState } from './admin-token.ts';

export type DeploymentFacts = {
  readonly stacks: readonly {
    readonly name: string;
    readonly region: string;
    readonly status: string;
    readonly drift?: string;
  }[];
  /** Stacks of the deployment that are not there. */
  readonly missing: readonly string[];
  /** Absent: they may not be read. */
  readonly alarms?: readonly Alarm[] | undefined;
  readonly token: TokenState;
  /** The public address, if it answers nothing at all, and the reason. */
  readonly silent?: { readonly url: string; readonly reason: string };
  /** The answer of `/mcp` without a token. */
  readonly refused?: HttpAnswer;
  /** The answer of `/api` under a path with an encoded slash. */
  readonly encoded?: HttpAnswer;
};

export type Alarm = {
  readonly AlarmName: string;
  readonly StateValue: string;
  readonly ActionsEnabled: boolean;
};

export type HttpAnswer = {
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string;
};

const isHead = (part: string | undefined): boolean => part !== undefined && /^HTTP\/\S+ \d{3}/.test(part);

/** The last answer in what `curl --include` prints. */
export const parseAnswer = (text: string): HttpAnswer | undefined => {
  const parts = text.split(/\r?\n\r?\n/);
  // A proxy on the way, and an interim answer, have heads of their own.
  const last = parts.findIndex((_, index) => !isHead(parts[index + 1]));
  const [head = '', ...rest] = parts.slice(last);
  const [first = '', ...lines] = head.split(/\r?\n/);
  const status = Number(/^HTTP\/\S+ (\d{3})/.exec(first)?.[1]);
  if (Number.isNaN(status)) return undefined;
  const pairs = lines.map((line) => [
    line.slice(0, line.indexOf(':')).toLowerCase(),
    line.slice(line.indexOf(':') + 1).trim(),
  ]);
  return { status, headers: Object.fromEntries(pairs), body: rest.join('\n\n') };
};

export const judgeDeployment = (facts: DeploymentFacts): readonly Finding[] => [
  ...stackFindings(facts),
  ...alarmFindings(facts.alarms),
  ...when(facts.token === 'pending', {
    problem: 'the admin token was never shown: the deploy that made it was interrupted',
    next: 'Deploy again: npm run deploy prints another.',
  }),
  ...silenceFindings(facts.silent),
  ...refusalFindings(facts.refused),
  ...encodingFindings(facts.encoded),
];

const when = (isWrong: boolean, finding: Omit<Finding, 'level'>): readonly Finding[] =>
  isWrong ? [{ level: 'stop', ...finding }] : [];

const stackFindings = ({ stacks, missing }: DeploymentFacts): readonly Finding[] => [
  ...missing.map((name) => ({
    level: 'stop' as const,
    problem: `stack ${name} is missing`,
    next: 'Deploy the same release again: npm run deploy.',
  })),
  ...stacks
    .filter(({ status }) => !/^(?:CREATE|UPDATE|IMPORT)_COMPLETE$/.test(status))
    .map(({ name, status, region }) => ({
      level: 'warn' as const,
      problem: `stack ${name} is ${status}`,
      next: `Its events have the reason: aws cloudformation describe-stack-events --stack-name ${name} --region ${region}`,
    })),
  ...stacks
    .filter(({ drift }) => drift === 'DRIFTED')
    .map(({ name, region }) => ({
      level: 'warn' as const,
      problem: `resources of stack ${name} were changed by hand, as its last drift detection says`,
      next: `See them: aws cloudformation describe-stack-resource-drifts --stack-name ${name} --region ${region}`,
    })),
];

const alarmFindings = (alarms: readonly Alarm[] | undefined): readonly Finding[] =>
  alarms === undefined
    ? [
        {
          level: 'unknown',
          problem: 'the states of the alarms cannot be read',
          next: 'Ask the administrator of the account for the right to read it, or check it in the console.',
        },
      ]
    : [
        ...alarms
          .filter(({ StateValue }) => StateValue === 'ALARM')
          .map(({ AlarmName }) => ({
            level: 'warn' as const,
            problem: `the alarm ${AlarmName} rings`,
            next: 'Its description names the heading of docs/runbook.md.',
          })),
        ...alarms
          .filter(({ ActionsEnabled }) => !ActionsEnabled)
          .map(({ AlarmName }) => ({
            level: 'warn' as const,
            problem: `the alarm ${AlarmName} notifies no one: its actions are disabled`,
            next: `Enable them: aws cloudwatch enable-alarm-actions --alarm-names ${AlarmName}`,
          })),
      ];

const silenceFindings = (silent: DeploymentFacts['silent']): readonly Finding[] =>
  silent === undefined
    ? []
    : when(true, {
        problem: `${silent.url} does not answer: ${silent.reason}`,
        next: 'If its name is not found, your DNS needs the CNAME that a deploy prints; otherwise look at the distribution in the console of CloudFront, and at your own network.',
      });

const refusalFindings = (answer: HttpAnswer | undefined): readonly Finding[] =>
  answer === undefined
    ? []
    : [
        ...when(answer.status !== 401, {
          problem: `/mcp answers ${answer.status} without a token, and not 401`,
          next: 'See the logs of the function mcp, then those of the REST API.',
        }),
        ...when(answer.status === 401 && !/^Bearer/.test(answer.headers['www-authenticate'] ?? ''), {
          problem: 'a refusal of /mcp has no WWW-Authenticate: clients do not ask for a token',
          next: 'CloudFront adds it to /mcp (infra/constructs/distribution.ts): compare its response headers policy.',
        }),
      ];

const encodingFindings = (answer: HttpAnswer | undefined): readonly Finding[] =>
  answer === undefined
    ? []
    : when(!answer.body.includes('"code"'), {
        problem: `a path with %2F is answered with ${answer.status} by something before the function: files and ports with such names cannot be reached`,
        next: 'Report it with the headers of the answer: curl --include <address>/api/sessions/a%2Fb',
      });
