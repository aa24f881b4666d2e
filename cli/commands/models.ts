/** `models`: which models the provider has, and whether the wanted ones are among them. */
import type { Call, Command } from '../command.ts';
import { tableLines } from '../table.ts';

type Listed = {
  readonly provider: string;
  readonly models: readonly { readonly id: string; readonly name?: string }[];
};
type Checked = { readonly provider: string; readonly models: Readonly<Record<string, string>> };

const queryOf = (call: Call): string => {
  const search = new URLSearchParams();
  const provider = call.text('provider');
  if (provider !== undefined) search.set('provider', provider);
  if (call.positionals.length > 0) search.set('models', call.positionals.join(','));
  return search.size === 0 ? '' : `?${search}`;
};

const list = async (call: Call): Promise<undefined> => {
  const answer = await (await call.client()).get<Listed>(`/api/models/available${queryOf(call)}`);
  call.output.result(answer, () => [
    `Models of ${answer.provider}:`,
    ...tableLines(
      ['ID', 'NAME'],
      answer.models.map(({ id, name }) => [id, name]),
    ),
  ]);
};

const check = async (call: Call): Promise<number> => {
  const answer = await (await call.client()).get<Checked>(`/api/models/check${queryOf(call)}`);
  const models = Object.entries(answer.models);
  call.output.result(answer, () => tableLines(['MODEL', `AT ${answer.provider.toUpperCase()}`], models));
  return models.every(([, state]) => state === 'available') ? 0 : 1;
};

const options = { provider: { type: 'string' } } as const;

export const modelCommands: readonly Command[] = [
  {
    name: 'models',
    usage: '[--provider <p>]',
    summary: 'List the models of the provider',
    options,
    positionals: { min: 0, max: 0 },
    run: list,
  },
  {
    name: 'models check',
    usage: '[model…] [--provider <p>]',
    summary: 'Check that models are available; exit code 1 when one is not',
    options,
    positionals: { min: 0, max: 20 },
    run: check,
  },
];
