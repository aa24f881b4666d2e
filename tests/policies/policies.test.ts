/**
 * Each function's role against what the function did: every call that it made of the embedded cloud is allowed by the
 * synthesised policies, and every right that no call used stands in `unseen-rights.ts` with a reason.
 */
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { environments, type FunctionName } from '#shared/config/environment.ts';
import type { Authorisation } from '../../local/recorder/authorisations.ts';
import type { RecordedCall } from '../../local/recorder/start.ts';
import { type RealIssuer, startRealIssuer } from '../../shared/adapters/oidc/fixtures/real-issuer.ts';
import { type OutsideHost, openHttpHost } from '../e2e/egress-hosts.ts';
import { type EmbeddedCloud, openEmbeddedCloud } from '../e2e/embedded-cloud.ts';
import { type Granted, grantedBy } from './granted.ts';
import { isAllowed, type Statement } from './policy-evaluation.ts';
import { rightsOf, unusedOf } from './rights.ts';
import { useEverything } from './scenario.ts';
import { signInAndOut } from './sign-in.ts';
import { defaultTemplates } from './templates.ts';
import { unseenRights } from './unseen-rights.ts';

const names = Object.keys(environments) as FunctionName[];

let cloud: EmbeddedCloud;
let issuer: RealIssuer;
let outside: OutsideHost;
let granted: Granted;
const calls: RecordedCall[] = [];

const scenarioMsMax = 300_000;

beforeAll(async () => {
  granted = grantedBy(await defaultTemplates());
  issuer = await startRealIssuer();
  outside = await openHttpHost((_, response) => void response.end('from outside'));
  const reached = `localhost:${outside.port}`;
  cloud = await openEmbeddedCloud({
    variables: {
      OIDC_ISSUER: issuer.url,
      OIDC_AUDIENCE: 'sallyport',
      OIDC_CLIENT_ID: 'public',
      OIDC_LOGIN_SCOPES: 'openid sallyport',
      MCP_AUTHORIZATION_SERVER: 'platform',
      EGRESS_ALLOW: `*.example.org,${reached}`,
      EGRESS_ALLOWED_PRIVATE_HOSTS: reached,
      SYNTHETIC_CHECK: 'true',
      MCP_ALLOWED_PRIVATE_HOSTS: '127.0.0.1',
      WEBHOOK_ALLOWED_PRIVATE_HOSTS: '127.0.0.1',
      WEBHOOK_RETRY_SECONDS: '60',
      POOL_SIZE: '1',
    },
    // An environment that ends after five seconds starts again at the next story, which is half of the work of this file.
    mode: { kind: 'strict', idleMsMax: 60_000 },
    recordCall: (call) => calls.push(call),
  });
  await useEverything(cloud, reached);
  await signInAndOut(cloud, issuer);
}, scenarioMsMax);
afterAll(async () => {
  await cloud?.stop();
  await issuer?.stop();
  outside?.close();
});

/** With the start of each partition that is asked for: an id says nothing. */
const wordsOf = ({ action, resource, context }: Authorisation): string => {
  const keys = (context['dynamodb:LeadingKeys'] ?? []).map((key) => `${key.split('#')[0]}#`);
  return [`${action} on ${resource}`, ...new Set(keys)].join(' ');
};

/** Of a function, found once. */
const remembered = <T>(find: (name: FunctionName) => T): ((name: FunctionName) => T) => {
  const found = new Map<FunctionName, T>();
  return (name) => {
    const value = found.get(name) ?? find(name);
    found.set(name, value);
    return value;
  };
};

/** The function's requests, each once. */
const askedBy = remembered((name): readonly Authorisation[] => {
  const own = calls.filter(({ caller }) => caller === `sallyport-${name}`);
  const asked = own.flatMap(({ authorisations }) => authorisations.map(granted.onAws));
  return [...new Map(asked.map((one) => [JSON.stringify(one), one])).values()];
});

const unusedBy = remembered((name) => unusedOf(granted.statementsOf(name), askedBy(name)));

const refused = (name: FunctionName, statements: readonly Statement[]): readonly string[] => {
  const all = askedBy(name).filter((asked) => !isAllowed(statements, asked));
  return [...new Set(all.map(wordsOf))];
};

describe('the role of', () => {
  test.each(names)('%s allows every call that the function made', (name) => {
    expect(askedBy(name).length).toBeGreaterThan(0);
    expect(refused(name, granted.statementsOf(name))).toEqual([]);
  });

  test.each(names)('%s allows nothing else but the calls that are listed with a reason', (name) => {
    const unused = unusedBy(name);
    const listed = unseenRights.filter(({ functions }) => functions === 'all' || functions.includes(name));
    const unlisted = unused.filter((right) => !listed.some(({ right: known }) => known.test(right)));
    expect(unlisted).toEqual([]);
  });

  test.each(names)('%s is not sufficient without any one of the permissions that were used', (name) => {
    const used = rightsOf(granted.statementsOf(name)).filter(({ text }) => !unusedBy(name).includes(text));
    const needless = used.filter(({ without }) => askedBy(name).every((asked) => isAllowed(without, asked)));
    expect(needless.map(({ text }) => text)).toEqual([]);
  });
});

test('no reason is listed for a permission that is missing, or that is used', () => {
  const unused = names.flatMap((name) => unusedBy(name).map((right) => ({ name, right })));
  const stale = unseenRights.filter(
    ({ functions, right, mayBeUsed = false }) =>
      !mayBeUsed &&
      !unused.some((one) => (functions === 'all' || functions.includes(one.name)) && right.test(one.right)),
  );
  expect(stale).toEqual([]);
});

test('during an upgrade a function may start every revision of the templates, and nothing else', () => {
  for (const name of names)
    for (const start of askedBy(name).filter(({ action }) => action === 'ecs:RunTask')) {
      const statements = granted.statementsOf(name);
      const at = (resource: string) => isAllowed(statements, { ...start, resource });
      const revisions = ['1', '7', '12'].map((revision) => start.resource.replace(/\d+$/, revision));
      expect([name, ...revisions.map(at)]).toEqual([name, true, true, true]);
      const other = start.resource.replace(/task-definition\/.*/, 'task-definition/sallyport-other:1');
      expect([name, at(other)]).toEqual([name, false]);
    }
});

test('a role that allows everything is detected', () => {
  const anything: Statement = { Effect: 'Allow', Action: '*', Resource: '*' };
  expect(unusedOf([anything], askedBy('turn'))).toEqual(['* on *']);
});
