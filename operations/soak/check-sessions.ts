/** Checks of what sessions show: messages, events, sockets, tools, files, processes. Each gives what is wrong, in words. */
import type { LoggedEvent, SessionRecord } from './record.ts';

export type Check = (session: SessionRecord) => readonly string[];

const isUser = ({ type, data }: LoggedEvent): boolean => type === 'message' && data['role'] === 'user';

/** Each message that was sent is in the log once, and each is followed by one completion before the next. */
export const messages: Check = ({ sent, events }) => {
  const logged = events.filter(isUser).map(({ data }) => String(data['messageId']));
  const lost = sent.filter(({ messageId }) => !logged.includes(messageId));
  const turns = events.filter((event) => isUser(event) || event.type === 'completion');
  const unanswered = turns.filter((event, place) => isUser(event) && turns[place + 1]?.type !== 'completion');
  const doubled = turns.filter(
    ({ type }, place) => type === 'completion' && turns[place - 1]?.type !== 'message',
  );
  return [
    ...lost.map(({ messageId }) => `message ${messageId} is not in the log`),
    ...repeatedOf(logged).map((messageId) => `message ${messageId} is in the log again`),
    ...unanswered.map(({ data }) => `message ${data['messageId']} has no answer before the next one`),
    ...doubled.map(({ index }) => `completion ${index} answers nothing`),
  ];
};

/** The log is numbered from 0 without a gap or a repetition. */
export const indices: Check = ({ events }) =>
  events.flatMap(({ index }, place) => (index === place ? [] : [`event ${index} at place ${place}`]));

/** A person who was cut off and came back has seen every event of the log, and none that is not in it. */
export const sockets: Check = ({ events, frames }) => {
  if (frames === undefined) return [];
  const seen = new Map(frames.map(({ seq, type }) => [seq, type]));
  const unlike = frames.filter(({ seq, type }) => events[seq] !== undefined && events[seq].type !== type);
  return [
    ...events.filter(({ index }) => !seen.has(index)).map(({ index }) => `event ${index} was never shown`),
    ...unlike.map(({ seq, type }) => `frame ${seq} is ${type}, the log has ${events[seq]?.type}`),
  ];
};

/** A call that ran left one mark; one that was refused left none; one whose outcome is unknown left one at most. */
export const tools: Check = (session) => {
  const { sent, asked, sharedMarks } = session;
  const all = sent.flatMap(({ marks }) => marks);
  const ran = [
    ...all.filter((mark) => endOf(session, mark)?.type === 'tool:output'),
    ...asked.filter(({ outcome }) => outcome === 'ran').map(({ mark }) => mark),
  ];
  const refused = sent.flatMap(({ refused: marks = [] }) => marks);
  const known = new Set([...all, ...asked.map(({ mark }) => mark), ...refused]);
  return [
    ...repeatedOf(sharedMarks).map((mark) => `${mark} was left more than once`),
    ...ran.filter((mark) => !sharedMarks.includes(mark)).map((mark) => `${mark} ran and left nothing`),
    ...refused.filter((mark) => sharedMarks.includes(mark)).map((mark) => `${mark} was refused and ran`),
    ...all.filter((mark) => hasNoEnd(session, mark)).map((mark) => `${mark} has neither output nor error`),
    ...sharedMarks.filter((mark) => !known.has(mark)).map((mark) => `${mark} was never asked for`),
  ];
};

/** A file that a turn or a command left is in the workspace, unless the session says that it was lost; nothing is there twice. */
export const files: Check = (session) => {
  const { sharedMarks, workspaceMarks, files: seen } = session;
  const gone = sharedMarks.filter((mark) => !workspaceMarks.includes(mark) && !isExcused(session, mark));
  return [
    ...gone.map((mark) => `${mark} is not in the workspace`),
    ...repeatedOf(workspaceMarks).map((mark) => `${mark} is in the workspace more than once`),
    ...seen
      .filter(({ wanted, found }) => wanted !== found)
      .map(({ path, wanted, found }) => `${path} holds "${cut(found)}", not "${cut(wanted)}"`),
  ];
};

/** The output of a process has every line once, in order, up to its end or the loss of its sandbox. */
export const processes: Check = (session) =>
  session.processes.flatMap(({ lines, text, isLost }) => {
    const wanted = Array.from({ length: lines }, (_, place) => `line ${place + 1}\n`).join('');
    const isWhole = isLost ? wanted.startsWith(text.slice(0, text.lastIndexOf('\n') + 1)) : text === wanted;
    return isWhole ? [] : [`a process of ${lines} lines printed "${cut(text)}"`];
  });

const callOf = (events: readonly LoggedEvent[], mark: string): LoggedEvent | undefined =>
  events.find(({ type, data }) => type === 'tool:call' && JSON.stringify(data['args']).includes(mark));

/** Undefined where the call runs still, or never began. */
const endOf = ({ events }: SessionRecord, mark: string): LoggedEvent | undefined => {
  const call = callOf(events, mark);
  return events.find(
    ({ type, data }) =>
      (type === 'tool:output' || type === 'tool:rejected' || type === 'agent:error') &&
      call !== undefined &&
      data['callId'] === call.data['callId'],
  );
};

/** A turn that failed may have called nothing. */
const hasNoEnd = (session: SessionRecord, mark: string): boolean =>
  callOf(session.events, mark) !== undefined && endOf(session, mark) === undefined;

/** Said by the log: the outcome is unknown, the sandbox ended before the turn was saved, or what was not saved is lost. */
const isExcused = (session: SessionRecord, mark: string): boolean => {
  const { events, sent } = session;
  // A command by REST is in the workspace while its sandbox lives, and in its next save.
  if (!sent.some(({ marks }) => marks.includes(mark))) return events.some(isLoss);
  const end = endOf(session, mark);
  if (end?.type !== 'tool:output') return true;
  const completion = events.find(({ index, type }) => type === 'completion' && index > end.index);
  const isSaidLost = (completion?.data['workspace'] as { lost?: true } | undefined)?.lost === true;
  return isSaidLost || events.some((event) => isLoss(event) && isBetween(event, end, completion));
};

const isBetween = ({ index }: LoggedEvent, from: LoggedEvent, to: LoggedEvent | undefined): boolean =>
  index > from.index && index <= (to?.index ?? Number.POSITIVE_INFINITY);

const losses: ReadonlySet<unknown> = new Set([
  'sandbox_stopped',
  'workspace_not_saved',
  'workspace_restored',
]);
const isLoss = ({ type, data }: LoggedEvent): boolean => type === 'system' && losses.has(data['kind']);

const repeatedOf = (values: readonly string[]): readonly string[] => [
  ...new Set(values.filter((value, place) => values.indexOf(value) !== place)),
];

const charactersMax = 120;
const cut = (text: string): string =>
  text.length <= charactersMax ? text : `${text.slice(0, charactersMax)}…`;
