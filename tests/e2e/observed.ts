/** Observations of a run, as CloudWatch has them: the lines that functions and sandboxes printed, and the metrics in them. */
import type { EmbeddedCloud } from './embedded-cloud.ts';

export type Line = Readonly<Record<string, unknown>>;

/** The JSON objects among what was printed; other lines are those of the runtime and of crashing programs. */
export const linesOf = ({ printed }: Pick<EmbeddedCloud, 'printed'>): readonly Line[] =>
  printed()
    .split('\n')
    .flatMap((text) => {
      const begin = text.indexOf('{');
      if (begin < 0) return [];
      try {
        return [JSON.parse(text.slice(begin)) as Line];
      } catch {
        return [];
      }
    });

type Directive = {
  readonly Namespace: string;
  readonly Dimensions: readonly (readonly string[])[];
  readonly Metrics: readonly { readonly Name: string }[];
};

export type EmittedMetric = {
  readonly namespace: string;
  readonly name: string;
  readonly dimensions: Readonly<Record<string, string>>;
};

/**
 * The metrics that CloudWatch would make of lines in its embedded format
 * (https://docs.aws.amazon.com/AmazonCloudWatch/latest/monitoring/CloudWatch_Embedded_Metric_Format_Specification.html).
 */
export const metricsOf = (lines: readonly Line[]): readonly EmittedMetric[] =>
  lines.flatMap((line) => {
    const directives = (line['_aws'] as { CloudWatchMetrics?: readonly Directive[] } | undefined)
      ?.CloudWatchMetrics;
    return (directives ?? []).flatMap(({ Namespace: namespace, Dimensions, Metrics }) =>
      Metrics.flatMap(({ Name: name }) =>
        Dimensions.map((keys) => ({
          namespace,
          name,
          dimensions: Object.fromEntries(keys.map((key) => [key, String(line[key])])),
        })),
      ),
    );
  });

export const isEmitted = (cloud: Pick<EmbeddedCloud, 'printed'>, name: string): boolean =>
  metricsOf(linesOf(cloud)).some((metric) => metric.name === name);
