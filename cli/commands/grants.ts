/** `grants`: the grants of a session, listed and withdrawn. */

import { type Decider, deciderName } from '../approval/decider.ts';
import type { Call, Command } from '../command.ts';
import { segment } from '../http-client.ts';
import { tableLines } from '../table.ts';

type Grant = {
  readonly id: string;
  readonly tool: string;
  readonly prefix?: string;
  readonly by: Decider;
  readonly at: string;
};

const pathOf = ({ positionals }: Call): string => `/api/sessions/${segment(positionals[0] ?? '')}/grants`;

const covered = ({ tool, prefix }: Grant): string =>
  prefix === undefined ? `every call of ${tool}` : `${tool} that begins with: ${prefix}`;

const list = async (call: Call): Promise<undefined> => {
  const answer = await (await call.client()).get<{ grants: readonly Grant[] }>(pathOf(call));
  call.output.result(answer, () =>
    answer.grants.length === 0
      ? ['Nothing is allowed without being asked for.']
      : tableLines(
          ['ID', 'ALLOWS', 'BY', 'AT'],
          answer.grants.map((one) => [one.id, covered(one), deciderName(one.by), one.at]),
        ),
  );
};

const withdraw = async (call: Call): Promise<undefined> => {
  const id = call.positionals[1] ?? '';
  const client = await call.client();
  const grant = await client.send<Grant>('DELETE', `${pathOf(call)}/${segment(id)}`);
  call.output.result(grant, () => [`Withdrawn: ${covered(grant)}. Later calls are asked about again.`]);
};

const listing = {
  usage: '<session>',
  summary: 'List what was allowed for the rest of a session',
  positionals: { min: 1, max: 1 },
  run: list,
};

export const grantCommands: readonly Command[] = [
  { name: 'grants', ...listing },
  { name: 'grants list', ...listing },
  {
    name: 'grants withdraw',
    usage: '<session> <grant>',
    summary: 'Withdraw a grant at once',
    positionals: { min: 2, max: 2 },
    run: withdraw,
  },
];
