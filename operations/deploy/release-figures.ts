/**
 * Figures of a deployment by CloudWatch, and those of the previous release. Before a new release takes traffic, a deploy reads
 * the figures of the old one and stores them in Parameter Store.
 *
 * A person without the right to read metrics can still deploy: then there is nothing to compare with.
 */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { type Figures, figures, type Measured, type ReleaseFigures } from '#shared/config/figures.ts';
import type { Aws } from './aws.ts';

export const hoursMax = 24;
const hourSeconds = 3600;
const statistics = { count: 'SampleCount', p50: 'p50', p95: 'p95', p99: 'p99' } as const;
const refusals = ['AccessDenied', 'AccessDeniedException', 'UnauthorizedOperation'];

type Answer = {
  readonly MetricDataResults: readonly { readonly Id: string; readonly Values?: readonly number[] }[];
};

type Wanted = { readonly deployment: string; readonly hours: number; readonly now: number };

/** One period for the whole time: percentiles of several cannot be put together. */
export const readFigures = async (
  aws: Aws,
  { deployment, hours, now }: Wanted,
): Promise<Figures | undefined> => {
  const Dimensions = [{ Name: 'deployment', Value: deployment }];
  const queries = figures.flatMap(({ metric }, index) =>
    Object.entries(statistics).map(([name, Stat]) => ({
      Id: `f${index}${name}`,
      MetricStat: {
        Metric: { Namespace: 'Sallyport', MetricName: metric, Dimensions },
        ...{ Period: hours * hourSeconds, Stat },
      },
    })),
  );
  const from = new Date(now - hours * hourSeconds * 1000).toISOString();
  const found = await aws.find<Answer>(
    refusals,
    ...['cloudwatch', 'get-metric-data', '--metric-data-queries', JSON.stringify(queries)],
    ...['--start-time', from, '--end-time', new Date(now).toISOString()],
  );
  if (found === undefined) return undefined;
  const valueAt = (index: number, name: keyof typeof statistics): number | undefined =>
    found.MetricDataResults.find(({ Id }) => Id === `f${index}${name}`)?.Values?.[0];
  return Object.fromEntries(
    figures.flatMap(({ metric }, index) => {
      const [count, p50, p95, p99] = (['count', 'p50', 'p95', 'p99'] as const).map((name) =>
        valueAt(index, name),
      );
      if (count === undefined || p50 === undefined || p95 === undefined || p99 === undefined) return [];
      return [[metric, { count, p50, p95, p99 } satisfies Measured]];
    }),
  );
};

/** Of the source that is deployed. */
export const releaseVersion = (): string =>
  JSON.parse(readFileSync(join(import.meta.dirname, '../../package.json'), 'utf8')).version;

const releaseParameter = (deployment: string): string => `/sallyport/${deployment}/release`;

type Release = { readonly version: string; readonly last?: ReleaseFigures };

export const readRelease = async (aws: Aws, deployment: string): Promise<Release | undefined> => {
  const found = await aws.find<{ readonly Parameter: { readonly Value: string } }>(
    ['ParameterNotFound'],
    ...['ssm', 'get-parameter', '--name', releaseParameter(deployment)],
  );
  return found === undefined ? undefined : JSON.parse(found.Parameter.Value);
};

export const writeRelease = (aws: Aws, deployment: string, release: Release): Promise<void> =>
  aws.ask(
    ...['ssm', 'put-parameter', '--name', releaseParameter(deployment), '--type', 'String', '--overwrite'],
    ...['--value', JSON.stringify(release)],
  );

export const deleteRelease = async (aws: Aws, deployment: string): Promise<void> => {
  const named = ['--name', releaseParameter(deployment)] as const;
  await aws.find(['ParameterNotFound'], 'ssm', 'delete-parameter', ...named);
};

/** Before the new release takes traffic; undefined: there was none, or its metrics may not be read. */
export const figuresOfLeaving = async (
  aws: Aws,
  deployment: string,
  now: number,
): Promise<ReleaseFigures | undefined> => {
  const measured = await readFigures(aws, { deployment, hours: hoursMax, now });
  if (measured === undefined) return undefined;
  const version = (await readRelease(aws, deployment))?.version ?? 'unknown';
  return { version, until: new Date(now).toISOString(), figures: measured };
};
