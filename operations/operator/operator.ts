/**
 * `npm run operator`: percentiles of the real traffic of a deployment, or of one machine, beside their targets and the last
 * release.
 *
 * It changes nothing. A missed target is printed, and fails the command only with `--strict`.
 */
import { parseArgs } from 'node:util';
import {
  type Figure,
  type Figures,
  figures,
  type Measured,
  type ReleaseFigures,
} from '#shared/config/figures.ts';
import { localFigures, localRelease } from '../../local/figures.ts';
import { type Command, folderNamed, type Machine, runCommand } from '../deploy/command.ts';
import { Failure } from '../deploy/programs.ts';
import { hoursMax, readFigures, readRelease } from '../deploy/release-figures.ts';

const usage = [
  'usage: npm run operator [-- --stage <name>] [--region <region>] [--settings <file>] [--hours <1 to 24>] [--strict]',
  '       npm run operator -- --home <data folder> [--hours <1 to 24>] [--strict]',
  '',
  'Prints percentiles of real traffic beside their targets and those of the last release. It changes nothing.',
  '',
  '  --hours   the time before now; 24 if it is not given',
  '  --home    one machine, by its data folder, instead of a deployment on AWS',
  '  --strict  exit code 1 if a target is missed',
].join('\n');

const hourMs = 3_600_000;

const hoursOf = (given: string | undefined): number => {
  const hours = Number(given ?? hoursMax);
  if (!Number.isInteger(hours) || hours < 1 || hours > hoursMax)
    throw new Failure(`--hours is ${given}, and not a whole number from 1 to ${hoursMax}`);
  return hours;
};

type Shown = { readonly now: Figures; readonly last: ReleaseFigures | undefined; readonly strict: boolean };

const show = (say: (line: string) => void, { now, last, strict }: Shown): void => {
  for (const line of tableOf(figures, now, last)) say(line);
  say('');
  say(lastOf(last));
  const missed = figures.filter((figure) => verdictOf(figure, now[figure.metric]) === 'missed');
  if (strict && missed.length > 0)
    throw new Failure(`missed: ${missed.map(({ label }) => label).join(', ')}`, [
      'docs/runbook.md says, under "Figures that miss their target", where to look.',
    ]);
};

export const onAws: Command<'strict', 'hours'> = {
  usage,
  flags: ['strict'],
  values: ['hours'],
  run: async ({ target: { aws, settings }, terminal, hours: given, strict }) => {
    const hours = hoursOf(given);
    const { deployment } = settings;
    const now = await readFigures(aws, { deployment, hours, now: Date.now() });
    if (now === undefined)
      throw new Failure('the metrics cannot be read', ['Ask for the right cloudwatch:GetMetricData.']);
    terminal.say(`Deployment ${deployment}, the last ${hours} h`);
    show(terminal.say, { now, strict, last: (await readRelease(aws, deployment))?.last });
  },
};

/** The exit code. */
export const runOperator = async (machine: Machine): Promise<number> => {
  if (!machine.args.some((word) => word === '--home' || word.startsWith('--home=')))
    return runCommand(onAws, machine);
  try {
    const {
      home,
      hours: given,
      strict,
    } = parseArgs({
      args: [...machine.args],
      options: {
        ...{ home: { type: 'string' }, hours: { type: 'string' } },
        strict: { type: 'boolean', default: false },
      },
    }).values;
    const folder = folderNamed(home, '--home');
    const hours = hoursOf(given);
    const say = (line: string): void => void machine.output.write(`${line}\n`);
    say(`Data folder ${folder}, the last ${hours} h`);
    const now = await localFigures(folder, Date.now() - hours * hourMs);
    show(say, { now, strict, last: (await localRelease(folder))?.last });
    return 0;
  } catch (error) {
    if (!(error instanceof Failure)) throw error;
    machine.errors.write([error.message, ...error.next.map((step) => `  ${step}`), ''].join('\n'));
    return 1;
  }
};

export const verdictOf = (
  { target }: Figure,
  measured: Measured | undefined,
): 'met' | 'missed' | 'no traffic' => {
  if (measured === undefined || measured.count === 0) return 'no traffic';
  return measured[target.percentile] <= target.most ? 'met' : 'missed';
};

const head = [
  ...['figure', 'unit', 'count', 'p50', 'p95', 'p99', 'target', 'last p50', 'last p95', ''],
] as const;

export const tableOf = (
  list: readonly Figure[],
  now: Figures,
  last: ReleaseFigures | undefined,
): readonly string[] => {
  const rows = list.map((figure) => {
    const measured = now[figure.metric];
    const before = last?.figures[figure.metric];
    const shown = (value: number | undefined): string => textOf(figure, value);
    return [
      ...[figure.label, figure.unit, String(measured?.count ?? 0)],
      ...[shown(measured?.p50), shown(measured?.p95), shown(measured?.p99)],
      `${figure.target.percentile} at most ${shown(figure.target.most)}`,
      ...[shown(before?.p50), shown(before?.p95), verdictOf(figure, measured)],
    ];
  });
  const widths = head.map((name, column) =>
    Math.max(name.length, ...rows.map((row) => row[column]?.length ?? 0)),
  );
  const line = (cells: readonly string[]): string =>
    cells
      .map((cell, column) =>
        column === 0 || column === cells.length - 1
          ? cell.padEnd(widths[column] ?? 0)
          : cell.padStart(widths[column] ?? 0),
      )
      .join('  ')
      .trimEnd();
  return [line(head), ...rows.map(line)];
};

const textOf = ({ unit }: Figure, value: number | undefined): string => {
  if (value === undefined) return '–';
  return unit === 'USD' ? value.toFixed(4) : Math.round(value).toLocaleString('en-US');
};

export const lastOf = (last: ReleaseFigures | undefined): string =>
  last === undefined
    ? 'There are no figures of an earlier release.'
    : `The last release is ${last.version}, with its last figures of ${last.until}.`;
