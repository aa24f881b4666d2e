/** `approvals`: lists the calls that wait for a decision, shows them in full and decides them. A decision covers the shown call only. */
import { readFile } from 'node:fs/promises';
import { resolve } from 'node:path';
import { decideCall, digestOf, readCall, type WaitingCall } from '#sdk/approvals.ts';
import type { AnswerOf } from '#sdk/route.ts';
import type { api, Decision } from '#sdk/routes.ts';
import type { JsonObject } from '#shared/domain/json.ts';
import { visibleLine } from '#shared/domain/visible-text.ts';
import { callLines } from '../approval/call-view.ts';
import { readArgs } from '../approval/edit-args.ts';
import { readAnswer } from '../approval/question.ts';
import { approvalLines, readApprovals, watchApprovals } from '../approval/waiting-calls.ts';
import { type Call, type Command, flag, given, listing, none, value } from '../runtime/command.ts';
import { exitCodes, failure, unreadable, wrongUsage } from '../runtime/failure.ts';
import { readPiped } from '../runtime/prompt.ts';
import { openQuestions } from '../runtime/questions.ts';

const list = async (call: Call): Promise<number | undefined> => {
  const client = await call.client();
  if (call.isSet('watch')) return watchApprovals(call, client);
  const approvals = await readApprovals(client, call);
  call.output.result({ approvals }, () =>
    approvals.length === 0
      ? ['No pending approvals.']
      : [
          ...approvalLines(approvals, Date.now()),
          '',
          'Decide with `sallyport approvals approve <session> <call>` or `reject`; `show` prints a call in full.',
        ],
  );
  return undefined;
};

const addressed = ({ positionals: [sessionId = '', callId = ''] }: Call) => ({ sessionId, callId });

const show = async (call: Call): Promise<undefined> => {
  const waiting = await readCall(await call.client(), addressed(call));
  const { stdout } = call.host;
  call.output.result(waiting, () => callLines(waiting, stdout.isTTY === true ? stdout.columns : undefined));
};

const argsBytesMax = 1_048_576;

const readChanges = async (call: Call): Promise<JsonObject | undefined> => {
  const file = call.text('args');
  if (file === undefined) return undefined;
  const text =
    file === '-'
      ? await readPiped(call.host, argsBytesMax)
      : await readFile(resolve(call.host.folder, file), 'utf8').catch(unreadable(file));
  const args = readArgs(text);
  if (typeof args === 'string') throw wrongUsage(`--args: ${args}`);
  return args;
};

const grantOf = (call: Call): 'session' | { readonly prefix: string } | undefined => {
  const prefix = call.text('prefix');
  if (prefix !== undefined && call.isSet('always')) throw wrongUsage('give either --always or --prefix');
  if (prefix !== undefined) return { prefix };
  return call.isSet('always') ? 'session' : undefined;
};

const decide = (approved: boolean) => async (call: Call) => {
  const { output, host } = call;
  const choice: Decision = {
    approved,
    ...given<Omit<Decision, 'approved'>>({
      remember: grantOf(call),
      reason: call.text('reason'),
      args: await readChanges(call),
    }),
  };
  const [digest, effectDigest] = [call.text('digest'), call.text('effect')];
  if (effectDigest !== undefined && digest === undefined) throw wrongUsage('--effect belongs to a --digest');
  const isBlind = digest === undefined && host.stdin.isTTY !== true;
  if (isBlind && approved)
    throw wrongUsage('without a terminal, --digest of the call you reviewed is required', [
      '`sallyport approvals show <session> <call>` prints the call and its digest.',
    ]);
  const client = await call.client();
  const address = addressed(call);
  const answer =
    digest === undefined && !isBlind
      ? await decideSeen(call, await readCall(client, address), choice)
      : await decideCall(
          client,
          { ...address, effectDigest, ...(digest === undefined ? {} : { digest }) },
          choice,
        );
  output.result(answer, () => [`${approved ? 'Approved' : 'Rejected'} ${visibleLine(address.callId)}.`]);
  return undefined;
};

type Decided = AnswerOf<typeof api.decideCall>;

/** Shows the call in full, and accepts a line that was begun after that. */
const decideSeen = async (call: Call, waiting: WaitingCall, choice: Decision): Promise<Decided> => {
  const { host } = call;
  const { columns } = host.stderr;
  const { approved, args } = choice;
  const word = approved ? 'approve' : 'reject';
  const changed = args === undefined ? undefined : { ...waiting, args: args as JsonObject };
  const digest = changed === undefined ? '' : await digestOf(changed);
  const shown = [
    ...callLines(waiting, columns),
    ...(changed === undefined ? [] : ['', 'Changed to:', ...callLines({ ...changed, digest }, columns)]),
    ...grantLines(choice, waiting),
  ];
  const interrupted = Promise.withResolvers<undefined>();
  const questions = openQuestions(host, () => interrupted.resolve(undefined));
  try {
    const question = `${shown.join('\n')}\nType ${word} and Enter: `;
    const line = await Promise.race([questions.askDecision(question), interrupted.promise]);
    if (line !== undefined && readAnswer(line) === word)
      return await decideCall(await call.client(), waiting, choice);
    throw failure('interrupted', 'no decision was made', { exitCode: exitCodes.interrupted });
  } finally {
    questions.close();
  }
};

const grantLines = ({ remember }: Decision, { name }: WaitingCall): readonly string[] => {
  if (remember === undefined) return [];
  return [
    remember === 'session'
      ? `and every later call of ${visibleLine(name)} in this session`
      : `and later commands of this session that begin with: ${visibleLine(remember.prefix)}`,
  ];
};

const two = { min: 2, max: 2, names: ['session', 'call'], sessions: 1 };
const named = '<session> <call>';

const approving = {
  usage: `${named} [--always | --prefix <words>] [--args <file>] [--digest <digest> [--effect <digest>]]`,
  summary: 'Show a pending call in full and approve it',
  details: [
    'Without a terminal --digest is required. It identifies the call you reviewed; a different call is refused.',
    '--effect is the digest of the effect, which `approvals show` prints of a call that was tried: it is required for such a call.',
    '--always allows all later calls of the tool in this session, --prefix later commands that begin with these words.',
    '--args runs the call with the arguments from a JSON file instead; - is stdin.',
  ],
  options: { always: flag, prefix: value, args: value, digest: value, effect: value },
  positionals: two,
  run: decide(true),
} as const;

const rejecting = {
  usage: `${named} [--reason <text>] [--digest <digest>]`,
  summary: 'Reject a pending call and send the agent the reason',
  options: { reason: value, digest: value },
  positionals: two,
  run: decide(false),
} as const;

export const approvalCommands: readonly Command[] = [
  ...listing('approvals', {
    usage: '[--project <id>] [--watch]',
    summary: 'List pending approvals',
    details: [
      'With --watch it keeps running: on a terminal it shows each new call and prompts for a decision; otherwise it prints',
      'each one (with --json as one line of JSON).',
    ],
    options: { project: value, watch: flag },
    positionals: none,
    run: list,
  }),
  {
    name: 'approvals show',
    usage: named,
    summary: 'Show a pending call in full, with its digest',
    positionals: two,
    run: show,
  },
  { name: 'approvals approve', ...approving },
  { name: 'approvals reject', ...rejecting },
];

/** The same commands under `sessions`. */
export const sessionDecisionCommands: readonly Command[] = [
  { name: 'sessions approve', ...approving },
  { name: 'sessions reject', ...rejecting },
];
