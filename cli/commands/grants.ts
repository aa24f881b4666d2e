/** `grants`: lists and withdraws the grants of a session. */

import { api, type SessionGrant } from '#sdk/routes.ts';
import { deciderName } from '../approval/call-view.ts';
import { byId, type Call, type Command, deleted, idOf, listing, oneSession } from '../runtime/command.ts';
import { tableLines } from '../runtime/output.ts';

const covered = ({ tool, prefix }: SessionGrant): string =>
  prefix === undefined ? `every call of ${tool}` : `${tool} that begins with: ${prefix}`;

const list = async (call: Call): Promise<undefined> => {
  const answer = await call.request(api.listGrants, byId(call));
  call.output.result(answer, () =>
    tableLines(
      ['ID', 'ALLOWS', 'BY', 'AT'],
      answer.grants.map((one) => [one.id, covered(one), deciderName(one.by), one.at]),
      'No grants.',
    ),
  );
};

const withdraw = async (call: Call): Promise<undefined> => {
  const grantId = call.positionals[1] ?? '';
  const grant = await call.request(api.withdrawGrant, { params: { id: idOf(call), grantId } });
  const withdrawn = deleted(grant, { id: grantId });
  call.output.result(withdrawn, () => [
    `Withdrawn: ${'tool' in withdrawn ? covered(withdrawn) : grantId}. The approval mode decides later calls.`,
  ]);
};

export const grantCommands: readonly Command[] = [
  ...listing('grants', {
    usage: '<session>',
    summary: 'List the grants of a session',
    positionals: oneSession,
    run: list,
  }),
  {
    name: 'grants withdraw',
    usage: '<session> <grant>',
    summary: 'Withdraw a grant immediately',
    positionals: { min: 2, max: 2, names: ['session', 'grant'], sessions: 1 },
    run: withdraw,
  },
];
