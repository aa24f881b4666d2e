/**
 * Entry of `npm run cost`: the cost a month of the default stage without users, with the hardened stage beside it.
 *
 * Needs neither Docker nor credentials: it reads the synthesised templates. `-- --stage <name>` prints one stage, `--json` its
 * unit prices for other programs.
 */
import { parseArgs } from 'node:util';
import { settingsOf, stages } from '../../infra/settings.ts';
import { synthesise } from '../../infra/stacks/synthesise.ts';
import { idleBill } from './idle-bill.ts';
import { reportOf, type StageBill, unitPrices } from './report.ts';

const billOf = (stage: string): StageBill => {
  const templates = synthesise({ settings: settingsOf(stage) });
  return { stage, templates, bill: idleBill(templates) };
};

const run = (): void => {
  const { stage, json } = parseArgs({
    options: { stage: { type: 'string' }, json: { type: 'boolean' } },
  }).values;
  if (json) {
    process.stdout.write(`${JSON.stringify(unitPrices(billOf(stage ?? 'production')))}\n`);
    return;
  }
  const beside = Object.keys(stages).filter((name) => name === 'hardened');
  const [first, others] = stage === undefined ? ['production', beside] : [stage, []];
  process.stdout.write(`${reportOf([billOf(first), ...others.map(billOf)])}\n`);
};

try {
  run();
} catch (cause) {
  process.stderr.write(`${cause instanceof Error ? cause.message : String(cause)}\n`);
  process.exitCode = 1;
}
