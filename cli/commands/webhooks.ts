/** `webhooks`: creates, lists, tests and deletes the URLs that receive events. A new secret is printed once. */
import { api, type Webhook } from '#sdk/routes.ts';
import {
  byId,
  type Call,
  type Command,
  given,
  listing,
  none,
  one,
  oneId,
  value,
  values,
} from '../runtime/command.ts';
import { wrongUsage } from '../runtime/failure.ts';
import { tableLines } from '../runtime/output.ts';

const list = async (call: Call): Promise<undefined> => {
  const { webhooks } = await call.request(api.listWebhooks, { query: { project: call.text('project') } });
  call.output.result({ webhooks }, () =>
    tableLines(
      ['ID', 'STATE', 'EVENTS', 'PROJECT', 'URL'],
      webhooks.map((one) => [one.id, stateOf(one), one.events.join(','), one.project ?? 'all', one.url]),
      'No webhooks.',
    ),
  );
};

const stateOf = ({ enabled, disabledReason }: Webhook): string =>
  enabled ? 'enabled' : `disabled${disabledReason === undefined ? '' : `: ${disabledReason}`}`;

const create = async (call: Call): Promise<undefined> => {
  const [url] = call.positionals;
  const events = call.list('event').flatMap((words) => words.split(','));
  if (events.length === 0) throw wrongUsage('--event is required', [eventNames]);
  const project = call.text('project');
  const made = await call.request(api.makeWebhook, { body: given({ url, events, project }) });
  call.output.result(made, () => [made.secret]);
  if (!call.output.isJson)
    call.output.note(`Webhook ${made.id}. Its signing secret is shown only once: store it safely.`);
};

const test = async (call: Call): Promise<number> => {
  const result = await call.request(api.testWebhook, byId(call));
  const { ok, status, durationMs, error } = result;
  const answer = status === undefined ? 'no answer' : `HTTP ${status}`;
  call.output.result(result, () => []);
  if (!call.output.isJson)
    call.output.line(ok ? `Accepted: ${answer} in ${durationMs} ms.` : `Not accepted: ${error ?? answer}.`);
  return ok ? 0 : 1;
};

const remove = async (call: Call): Promise<undefined> => {
  await call.request(api.deleteWebhook, byId(call));
  const [id] = call.positionals;
  call.output.result({ id, deleted: true }, () => [`Deleted ${id}.`]);
};

const eventNames = 'Events: approval_required, turn_completed, turn_failed, sandbox_failed, schedule_failed.';
const project = { project: value } as const;

export const webhookCommands: readonly Command[] = [
  ...listing('webhooks', {
    usage: '[--project <id>]',
    summary: 'List webhooks',
    options: project,
    positionals: none,
    run: list,
  }),
  {
    name: 'webhooks create',
    usage: '<url> --event <event>… [--project <id>]',
    summary: 'Create a webhook and print its secret once',
    details: [
      eventNames,
      "Without --project it receives the events of the token's own project, with a token of scope admin those of all projects.",
    ],
    options: { event: values, ...project },
    positionals: one,
    run: create,
  },
  {
    name: 'webhooks test',
    usage: '<id>',
    summary: 'Send a test event and show the response',
    positionals: oneId,
    run: test,
  },
  { name: 'webhooks delete', usage: '<id>', summary: 'Delete a webhook', positionals: oneId, run: remove },
];
