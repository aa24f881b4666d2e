/** `sessions tree`: the agents below a session, with what each branch has spent. */
import { api, type SessionTree } from '#sdk/routes.ts';
import { sliceTexts } from '#shared/domain/slice-text.ts';
import { statusLabel } from '#shared/domain/status-label.ts';
import { inTreeOrder } from '#shared/domain/tree-order.ts';
import { byId, type Call, type Command, oneSessionId } from '../runtime/command.ts';
import { factLines, tableLines } from '../runtime/output.ts';

const tree = async (call: Call): Promise<undefined> => {
  const shown = await call.request(api.showTree, byId(call));
  call.output.result(shown, () => treeLines(shown));
};

export const treeCommand: Command = {
  name: 'sessions tree',
  usage: '<id>',
  summary: 'Show the agents below a session, with what each branch has spent',
  positionals: oneSessionId,
  run: tree,
};

export const usd = (amount: number): string => `$${amount.toFixed(amount < 1 ? 4 : 2)}`;
export const usdOf = (used: number, max: number): string => `${usd(used)} of ${usd(max)}`;

/** More of them do not fit into a cell. */
const limitsOfRow = 3;

/** The limits of a slice, by the rows that they take. */
const sliceCells = ({ slice }: SessionTree['sessions'][number]): readonly string[] => {
  const texts = slice === undefined ? [] : sliceTexts(slice, usdOf);
  const rows = Math.max(1, Math.ceil(texts.length / limitsOfRow));
  return Array.from({ length: rows }, (_, row) =>
    texts.slice(row * limitsOfRow, (row + 1) * limitsOfRow).join(', '),
  );
};

/** The money of the whole tree, then rows for each session, those below another one indented. */
export const treeLines = ({ sessions, ...money }: SessionTree): readonly string[] => [
  ...factLines([
    ['tree', money.root],
    ['agents', String(money.agents)],
    ['spent', usdOf(money.spentUsd, money.maxCostUsd)],
    ['reserved', usd(money.reservedUsd)],
    ['unsettled', `${usd(money.unsettledUsd)}, possibly spent, so it counts as spent`],
  ]),
  '',
  ...tableLines(
    ['ID', 'STATUS', 'SPENT', 'BRANCH', 'SLICE', 'TOKENS', 'ABOUT'],
    inTreeOrder(sessions).flatMap(({ session: one, level }) => {
      const [first = '', ...others] = sliceCells(one);
      const row = [
        `${'  '.repeat(level)}${one.id}`,
        one.needsApproval ? `${one.status}, needs approval` : statusLabel(one),
        usd(one.costUsd),
        usd(one.branchCostUsd),
        first,
        `${one.inputTokens} in, ${one.outputTokens} out`,
        one.title ?? '',
      ];
      return [row, ...others.map((slice) => ['', '', '', '', slice, '', ''])];
    }),
    '',
  ),
];
