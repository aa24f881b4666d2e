/**
 * The calls that need approval, over all sessions of the token: their list, and a watch that prints each new call or asks
 * about it on a terminal, one after the other.
 *
 * The socket reports only the number of pending calls; the list names them. Ctrl-C ends the watch, and an undecided call
 * stays pending.
 */
import { readCall } from '#sdk/approvals.ts';
import { openConnection } from '#sdk/connection.ts';
import { readPages } from '#sdk/pages.ts';
import { api, type Decision, type WaitingRow } from '#sdk/routes.ts';
import type { Sallyport } from '#sdk/sallyport.ts';
import { visibleLine } from '#shared/domain/visible-text.ts';
import { patience, stateListener } from '../runtime/client.ts';
import type { Call } from '../runtime/command.ts';
import { toJson } from '../runtime/control-characters.ts';
import { exitCodes, failure, toFailure } from '../runtime/failure.ts';
import { tableLines } from '../runtime/output.ts';
import { openQuestions, type Questions } from '../runtime/questions.ts';
import { callInShort } from './call-view.ts';
import { askAboutCall, ifWaiting, makeAsker, tryDecision } from './question.ts';

export const readApprovals = (client: Sallyport, call: Call): Promise<readonly WaitingRow[]> =>
  readPages(
    (after) => client.request(api.listApprovals, { query: { project: call.text('project'), after } }),
    (page) => page.approvals,
  );

export const approvalLines = (approvals: readonly WaitingRow[], now: number): readonly string[] =>
  tableLines(
    ['WAITS', 'SESSION', 'CALL', 'WANTS', 'TITLE'],
    approvals.map((one) => [waited(one, now), one.sessionId, one.callId, callInShort(one), one.title]),
  );

const units = [
  ['d', 86_400],
  ['h', 3600],
  ['min', 60],
] as const;

/** The time since the request in whole units, by the clock of this machine. */
const waited = ({ askedAt }: Pick<WaitingRow, 'askedAt'>, now: number): string => {
  const seconds = Math.max(0, Math.floor((now - Date.parse(askedAt)) / 1000));
  const [name, size] = units.find(([, unit]) => seconds >= unit) ?? ['s', 1];
  return `${Math.floor(seconds / size)} ${name}`;
};

export const watchApprovals = async (call: Call, client: Sallyport): Promise<number> => {
  const { host, output } = call;
  const left = Promise.withResolvers<never>();
  const interrupt = (): void =>
    left.reject(failure('interrupted', 'left', { exitCode: exitCodes.interrupted }));
  const isAsking = host.stdin.isTTY === true && !output.isJson;
  const questions = isAsking ? openQuestions(host, interrupt) : undefined;
  const take =
    questions === undefined
      ? printNew(call)
      : askNew({ call, client, questions, interrupt, fail: left.reject });
  let reading = Promise.resolve();
  const read = (): void => {
    reading = reading.then(async () => take(await readApprovals(client, call), read)).catch(left.reject);
  };
  const release = host.onInterrupt(interrupt);
  const connection = openConnection(client, {
    query: () => ({ approvals: '1' }),
    greeting: 'approvals',
    probe: () => client.request(api.listApprovals),
    onFrame: ({ type }) => type === 'approvals' && read(),
    onState: stateListener({
      onLost: () => output.note('Connection lost, reconnecting…'),
      onEnd: left.reject,
    }),
    ...patience,
  });
  try {
    return await left.promise;
  } catch (error) {
    if (toFailure(error).exitCode === exitCodes.interrupted) return exitCodes.interrupted;
    throw error;
  } finally {
    release();
    connection.close();
    questions?.close();
  }
};

/** Takes the pending calls; `again` reads them once more. */
type Taker = (waiting: readonly WaitingRow[], again: () => void) => void;

const keyOf = ({ sessionId, turnId, callId }: WaitingRow): string => [sessionId, turnId, callId].join(' ');

/** Finds the calls that are new; a call that is no longer pending is forgotten. */
const makeNews = () => {
  const seen = new Set<string>();
  return {
    of: (waiting: readonly WaitingRow[]): readonly WaitingRow[] => {
      const keys = new Set(waiting.map(keyOf));
      for (const key of seen) if (!keys.has(key)) seen.delete(key);
      return waiting.filter((one) => !seen.has(keyOf(one)));
    },
    add: (one: WaitingRow): void => void seen.add(keyOf(one)),
  };
};

const printNew = ({ output }: Call): Taker => {
  const news = makeNews();
  return (waiting) => {
    for (const one of news.of(waiting)) {
      news.add(one);
      const { askedAt, sessionId, callId, title } = one;
      const words = [askedAt, sessionId, visibleLine(callId), callInShort(one), visibleLine(title)];
      output.line(output.isJson ? toJson(one) : words.join('  '));
    }
  };
};

type Watch = {
  readonly call: Call;
  readonly client: Sallyport;
  readonly questions: Questions;
  readonly interrupt: () => void;
  /** Ends the watch with an error. */
  readonly fail: (why: unknown) => void;
};

const askNew = (watch: Watch): Taker => {
  const { call, questions, fail } = watch;
  const news = makeNews();
  let asking: string | undefined;
  if (!call.output.isJson) call.output.note('Watching for calls that wait; Ctrl-C leaves.');
  return (waiting, again) => {
    const [next] = news.of(waiting);
    if (asking !== undefined) {
      if (!waiting.some((one) => keyOf(one) === asking)) questions.withdraw();
      return;
    }
    if (next === undefined) return;
    news.add(next);
    asking = keyOf(next);
    decideOne(watch, next)
      .finally(() => {
        asking = undefined;
        again();
      })
      .catch(fail);
  };
};

const decideOne = async (
  { call, client, questions, interrupt }: Watch,
  { sessionId, callId, title }: WaitingRow,
): Promise<void> => {
  const { note } = call.output;
  const read = () => ifWaiting(readCall(client, { sessionId, callId }));
  for (let waiting = await read(); waiting !== undefined; waiting = await read()) {
    note(`\n${visibleLine(title)}`);
    const verdict = await askAboutCall(makeAsker(call, questions), waiting);
    if (verdict === undefined && questions.isClosed()) interrupt();
    if (verdict === undefined || verdict === 'later') return;
    const outcome = await tryDecision(client, waiting, verdict);
    if (typeof outcome !== 'string') note(`Not decided: ${outcome.conflict}.`);
    else {
      note(outcome === 'settled' ? 'It was decided elsewhere.' : doneLine(verdict, callId));
      return;
    }
  }
};

const doneLine = ({ approved }: Decision, callId: string): string =>
  `${approved ? 'Approved' : 'Rejected'} ${visibleLine(callId)}.`;
