import { readFileSync } from 'node:fs';
import { App, Stack } from 'aws-cdk-lib';
import { CfnAlarm } from 'aws-cdk-lib/aws-cloudwatch';
import { CfnNatGateway, CfnVPCEndpoint } from 'aws-cdk-lib/aws-ec2';
import { CfnCluster } from 'aws-cdk-lib/aws-ecs';
import { CfnRule } from 'aws-cdk-lib/aws-events';
import { describe, expect, test } from 'vitest';
import { flavors } from '#shared/domain/flavor.ts';
import { inRepository } from '../../infra/constructs/repository-path.ts';
import { settingsOf } from '../../infra/settings.ts';
import { synthesise, type Template } from '../../infra/stacks/synthesise.ts';
import { type Bill, billOf, sandboxHour, taskSizes } from './bill.ts';
import { busyDay } from './busy-day.ts';
import { idleBill } from './idle-bill.ts';
import { prices } from './prices.ts';
import { busyDayBill, reportOf, thousandTurns } from './report.ts';

const production = synthesise();
const billed = (templates: Readonly<Record<string, Template>>): number => idleBill(templates).usd;

/** As where the free amounts are used up by others. */
const unfree = (templates: Readonly<Record<string, Template>>): number => {
  const { usd, freeUsd } = idleBill(templates);
  return usd + freeUsd;
};

/** The default app with one more stack. */
const withMore = (add: (stack: Stack) => void): Readonly<Record<string, Template>> => {
  const app = new App();
  const stack = new Stack(app, 'more');
  add(stack);
  return { ...production, more: app.synth().getStackByName('more').template };
};
const dearerBy = (add: (stack: Stack) => void): number =>
  Number((unfree(withMore(add)) - unfree(production)).toFixed(4));

const whatOf = (templates: Readonly<Record<string, Template>>, what: string): number =>
  Number((idleBill(templates).lines.find((line) => line.what === what)?.usd ?? 0).toFixed(4));

describe('the default app', () => {
  test('costs at most 25 dollars a month when idle', () => {
    expect(billed(production)).toBeLessThanOrEqual(25);
  });

  test('pays for two interface endpoints in one zone, and for no NAT gateway', () => {
    expect(whatOf(production, 'interface endpoints')).toBe(14.6);
    const types = Object.values(production).flatMap((template: Template) =>
      Object.values(template.Resources).map(({ Type }) => Type),
    );
    expect(types).not.toContain('AWS::EC2::NatGateway');
  });

  test('costs what the pages say', () => {
    const said = ['docs/comparison.md', 'docs/troubleshooting.md'].map((page) =>
      /\$(\d+) a month[^.|]*\$(\d+)/
        .exec(readFileSync(inRepository(page), 'utf8'))
        ?.slice(1)
        .map(Number),
    );
    const whole = [billed(production), whatOf(production, 'interface endpoints')].map(Math.round);
    expect(said).toEqual([whole, whole]);
  });

  test('includes the synthetic check, unless it is switched off', () => {
    expect(whatOf(production, 'synthetic turns')).toBeGreaterThan(0);
    expect(whatOf(production, 'synthetic sandboxes')).toBeGreaterThan(0);
    const off = synthesise({ settings: { variables: { SYNTHETIC_CHECK: 'false' } } });
    expect(whatOf(off, 'synthetic turns')).toBe(0);
    expect(billed(off)).toBeLessThan(billed(production));
  });
});

describe('additional resources are priced', () => {
  test('an interface endpoint by zone and hour, a gateway endpoint at nothing', () => {
    const endpoint = (VpcEndpointType: string, zones: number) => (stack: Stack) =>
      void new CfnVPCEndpoint(stack, 'Endpoint', {
        vpcId: 'vpc-1',
        serviceName: 'a-service',
        vpcEndpointType: VpcEndpointType,
        subnetIds: Array.from({ length: zones }, (_, zone) => `subnet-${zone}`),
      });
    expect(dearerBy(endpoint('Interface', 1))).toBe(7.3);
    expect(dearerBy(endpoint('Interface', 3))).toBe(21.9);
    expect(dearerBy(endpoint('Gateway', 0))).toBe(0);
  });

  test('an alarm by each of its metrics', () => {
    const metric = (id: string) => ({
      id,
      metricStat: { metric: { metricName: id, namespace: 'n' }, period: 60, stat: 'Sum' },
    });
    const alarm = (stack: Stack): void =>
      void new CfnAlarm(stack, 'Alarm', {
        comparisonOperator: 'GreaterThanThreshold',
        evaluationPeriods: 1,
        metrics: [metric('a'), metric('b'), metric('c'), { id: 'd', expression: 'a + b + c' }],
      });
    expect(dearerBy(alarm)).toBe(0.3);
  });

  test('a warm pool by the hour of every sandbox', () => {
    const pool = synthesise({ settings: { variables: { POOL_SIZE: '2' } } });
    expect(whatOf(pool, 'warm pool')).toBe(Number((2 * 730 * (0.032_38 + 2 * 0.003_56)).toFixed(4)));
  });

  test('the hardened stage by its second zone, its firewall and its key', () => {
    const hardened = synthesise({ settings: settingsOf('hardened') });
    expect(whatOf(hardened, 'interface endpoints')).toBe(29.2);
    expect(whatOf(hardened, 'web firewall')).toBeGreaterThanOrEqual(5);
    // That of the data, and the one that signs the seals of the audit log.
    expect(whatOf(hardened, 'keys')).toBe(2);
  });
});

describe('the cost is refused', () => {
  test('for a NAT gateway, by its name', () => {
    const nat = withMore((stack) => void new CfnNatGateway(stack, 'Nat', { subnetId: 'subnet-1' }));
    expect(() => idleBill(nat)).toThrow('no price is known for AWS::EC2::NatGateway');
  });

  test('with Container Insights', () => {
    const insights = withMore(
      (stack) =>
        void new CfnCluster(stack, 'Cluster', {
          clusterSettings: [{ name: 'containerInsights', value: 'enabled' }],
        }),
    );
    expect(() => idleBill(insights)).toThrow('Container Insights');
  });

  const rule = (schedule: string, input: string) =>
    withMore(
      (stack) =>
        void new CfnRule(stack, 'Rule', {
          scheduleExpression: schedule,
          targets: [{ arn: 'arn:aws:lambda:us-east-1:000000000000:function:f', id: 't', input }],
        }),
    );

  test('for scheduled work without an assumed duration', () => {
    expect(() => idleBill(rule('rate(1 minute)', '{"mine":"bitcoin"}'))).toThrow(
      'the work of its input has no cost',
    );
    expect(() => idleBill(rule('cron(0 0 * * ? *)', '{"sweep":"due"}'))).toThrow('is not a rate');
  });

  test('which costs more at a higher rate', () => {
    const [seldom, often] = ['rate(1 hour)', 'rate(1 minute)'].map((rate) => rule(rate, '{"sweep":"due"}'));
    expect(billed(often ?? {})).toBeGreaterThan(billed(seldom ?? {}));
  });
});

test('sandboxes have the sizes of the flavors', () => {
  const sizes = Object.fromEntries(Object.entries(flavors).map(([name, { task }]) => [name, task]));
  expect(taskSizes).toEqual(sizes);
  expect(Number(sandboxHour('micro').toFixed(6))).toBe(0.01975);
});

test('a busy day has the cost of its sandboxes, and less than a dollar more', () => {
  const { usd, lines } = busyDayBill(production);
  const sandboxes = lines.find(({ what }) => what === 'sandboxes')?.usd ?? 0;
  expect(sandboxes).toBeCloseTo(busyDay.sessions * busyDay.hours * sandboxHour(busyDay.flavor));
  expect(usd - sandboxes).toBeGreaterThan(0);
  expect(usd - sandboxes).toBeLessThan(1);
});

test('a turn costs less than a tenth of a cent', () => {
  expect(thousandTurns(production)).toBeGreaterThan(0.1);
  expect(thousandTurns(production)).toBeLessThan(1);
});

test('every price has a unit, an AWS page and a date', () => {
  for (const { usd, unit, page, asOf } of Object.values(prices)) {
    expect(usd).toBeGreaterThan(0);
    expect(unit).not.toBe('');
    expect(page).toMatch(/^https:\/\/aws\.amazon\.com\/[a-z0-9-]+\/pricing\/$/);
    expect(asOf).toMatch(/^\d{4}-\d{2}-\d{2}$/);
  }
});

test('the free tier is subtracted once, and only up to the usage', () => {
  const metrics = (amount: number) => billOf([{ what: 'metrics', price: 'customMetric', amount }]);
  expect(metrics(4)).toMatchObject({ freeUsd: 1.2, usd: 0 });
  expect(metrics(15)).toMatchObject({ freeUsd: 3, usd: 1.5 });
  const twice = billOf(['a', 'b'].map((what) => ({ what, price: 'customMetric' as const, amount: 10 })));
  expect(twice.usd).toBe(3);
});

test('the report starts with the total, and has the stages side by side', () => {
  const of = (stage: string, usd: number, lines: Bill['lines']) => ({
    stage,
    templates: production,
    bill: { usd, freeUsd: 1, lines },
  });
  const lines = reportOf([
    of('production', 13.6, [{ what: 'a', usd: 14.6 }]),
    of('hardened', 35.2, [
      { what: 'a', usd: 29.2 },
      { what: 'b', usd: 7 },
    ]),
  ]).split('\n');
  expect(lines[0]).toBe('idle: $13.60 a month');
  expect(lines.slice(2, 7).map((line) => line.replaceAll(/ +/g, ' '))).toEqual([
    'dollars a month production hardened',
    'a 14.60 29.20',
    'b 0.00 7.00',
    'always free -1.00 -1.00',
    'together 13.60 35.20',
  ]);
});
