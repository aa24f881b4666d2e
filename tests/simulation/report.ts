/** Report of a run that broke a promise: the seed, the promise, the last steps, and how to see it again. */
import type { ClassName } from './faults.ts';
import { standing } from './faults.ts';
import type { Change } from './memory-table.ts';
import type { Run } from './run.ts';

const linesMax = 40;
const detailCharactersMax = 220;

type Shown = { readonly linesShown?: number; readonly on?: readonly ClassName[] };

export const reportOf = (run: Run, { linesShown = linesMax, on = [...standing] }: Shown = {}): string => {
  const lines = (linesShown === 0 ? [] : run.trace.slice(-linesShown)).map(({ at, who, what, detail }) => {
    const said = detail === undefined ? '' : ` ${shown(detail).slice(0, detailCharactersMax)}`;
    return `${(at / 1000).toFixed(3).padStart(10)} ${who.padEnd(18)} ${what}${said}`;
  });
  return [
    `seed ${run.seed} breaks a promise after ${run.steps} steps`,
    `  ${run.broken?.message}`,
    ...lines,
    `again: npm run sim -- --seeds 1 --from ${run.seed} --only ${on.join()}`,
  ].join('\n');
};

const shown = (detail: unknown): string => {
  if (Array.isArray(detail)) return detail.map((change) => changeShown(change as Change)).join('; ');
  const { error } = detail as { readonly error?: unknown };
  return error instanceof Error ? error.message : JSON.stringify(detail);
};

const changeShown = ({ pk, sk, before, after }: Change): string => {
  const name = `${pk.replace(/([0-9a-f]{4})[0-9a-f-]{32}/, '$1')} ${sk}`;
  if (after === undefined) return `-${name}`;
  const moved = Object.keys(after)
    .filter((key) => before?.[key] !== after[key])
    .filter((key) => !/^(pk|sk|duePk|ttl)$/.test(key))
    .map((key) => `${key}=${JSON.stringify(after[key]) ?? ''}`.slice(0, 120));
  return `${name} ${moved.join(' ')}`;
};
