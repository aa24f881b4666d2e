/**
 * Judgement of a deployment as it runs, by what AWS and its own address answer. Pure. Besides faults it settles assumptions that
 * no test on one machine can: they are listed in docs/deploy.md as unproved.
 */
import type { Finding } from './account-checks.ts';

export type DeploymentFacts = {
  readonly stacks: readonly { readonly name: string; readonly status: string }[];
  /** The names of alarms that ring. */
  readonly alarms: readonly string[];
  /** Whether queries pass while the DNS firewall fails. */
  readonly dnsFailsOpen?: boolean;
  /** Of the authorizer of the WebSocket. */
  readonly identitySources?: readonly string[];
  /** The answer of `/mcp` without a token. */
  readonly refused?: HttpAnswer;
  /** The answer of `/api` under a path with an encoded slash. */
  readonly encoded?: HttpAnswer;
};

export type HttpAnswer = {
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string;
};

/** What `curl --include` prints, of the last answer. */
export const parseAnswer = (text: string): HttpAnswer | undefined => {
  const [head = '', ...rest] = text.split(/\r?\n\r?\n/);
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
  ...facts.alarms.map((alarm) => ({
    level: 'warn' as const,
    problem: `the alarm ${alarm} rings`,
    next: 'Its description names the heading of docs/runbook.md.',
  })),
  ...when(facts.dnsFailsOpen === true, {
    problem:
      'sandboxes resolve any name while the DNS firewall fails: its configuration is not FirewallFailOpen DISABLED',
    next: 'Set it: aws route53resolver update-firewall-config --firewall-fail-open DISABLED --resource-id <the VPC>',
  }),
  ...when((facts.identitySources ?? []).length > 0, {
    problem: `the authorizer of the WebSocket asks for ${facts.identitySources?.join(', ')}, and refuses tickets without it`,
    next: 'Compare the authorizer with the compute stack: it has no identity source.',
  }),
  ...refusalFindings(facts.refused),
  ...encodingFindings(facts.encoded),
];

const when = (isWrong: boolean, finding: Omit<Finding, 'level'>): readonly Finding[] =>
  isWrong ? [{ level: 'stop', ...finding }] : [];

const stackFindings = ({ stacks }: DeploymentFacts): readonly Finding[] =>
  stacks
    .filter(({ status }) => !/^(?:CREATE|UPDATE|IMPORT)_COMPLETE$/.test(status))
    .map(({ name, status }) => ({
      level: 'warn',
      problem: `stack ${name} is ${status}`,
      next: `Its events have the reason: aws cloudformation describe-stack-events --stack-name ${name}`,
    }));

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
