/** `models`: lists the models of a provider and checks the availability of given ones. */
import { api } from '#sdk/routes.ts';
import { type Call, type Command, none, value } from '../runtime/command.ts';
import { tableLines } from '../runtime/output.ts';

const list = async (call: Call): Promise<undefined> => {
  const answer = await call.request(api.listModels, {
    query: { provider: call.text('provider') },
  });
  call.output.result(answer, () => [
    `Models of ${answer.provider}:`,
    ...tableLines(
      ['ID', 'NAME'],
      answer.models.map(({ id, name }) => [id, name]),
    ),
  ]);
};

const check = async (call: Call): Promise<number> => {
  const requested = call.positionals.length === 0 ? undefined : call.positionals.join(',');
  const answer = await call.request(api.checkModels, {
    query: { provider: call.text('provider'), models: requested },
  });
  const models = Object.entries(answer.models);
  call.output.result(answer, () => tableLines(['MODEL', `AT ${answer.provider.toUpperCase()}`], models));
  return models.every(([, state]) => state === 'available') ? 0 : 1;
};

const options = { provider: value } as const;

export const modelCommands: readonly Command[] = [
  {
    name: 'models',
    usage: '[--provider <p>]',
    summary: 'List the models of the provider',
    options,
    positionals: none,
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
