/**
 * Language rules: the standard words of docs/glossary.md, and comments that a stranger can read.
 *
 * Refuses identifiers and file names that a standard term has replaced, headers that do not begin with a noun or a verb,
 * sentences of a comment that begin with a clause, and actors without a name ("somebody"). Plain English words and words of the contract stay free.
 */
import { isSource, type RepositoryFile } from './repository.ts';

export type Complaint = { readonly path: string; readonly line: number; readonly message: string };

/** Identifiers by what has replaced them. A name that is plain English as well (`place`, `door`) is not among them. */
const retired: Readonly<Record<string, string>> = {
  Desk: 'TurnContext',
  layOut: 'loadTurn',
  commitUnleased: 'applyEvent',
  moveTurn: 'applyEvent',
  EndedCall: 'ToolResult',
  HandedCall: 'DelegatedCall',
  SandboxEntry: 'LazySandbox',
  TurnWatch: 'TurnMonitor',
  readFamily: 'readTreeEvents',
  wakeParent: 'notifyParent',
  toldAbove: 'forwardToRoot',
  Audience: 'Publisher',
  openAudience: 'openPublisher',
  greetConnection: 'onConnected',
  isPoolSlot: 'isPoolEntry',
  poolSlots: 'poolEntries',
  PlaceHolder: 'SlotHolder',
  PlaceStore: 'SlotStore',
  takePlace: 'acquireSlot',
  givePlaceBack: 'releaseSlot',
  placesMax: 'slotsMax',
  createWithPlace: 'createSessionWhenFree',
  WorkspacePlace: 'WorkspaceRef',
  UserPlace: 'SandboxPaths',
  PlaceFinder: 'resolveRestorePath',
  WholePlace: 'ResultFile',
  SessionWish: 'SessionOptions',
  askWithPatience: 'withRetry',
  openHouse: 'openLambdaRuntime',
  HouseFunction: 'PlatformFunction',
  openDoor: 'openClient',
  requireNeed: 'requirePermission',
  lostQueue: 'deadLetterQueue',
  ScheduleTender: 'ScheduleDispatcher',
  tendSchedule: 'dispatchSchedule',
  EchoPart: 'StatePart',
  echoOf: 'providerStateOf',
  HistoryStore: 'MetricsStore',
  HistoryNote: 'UsageMeasurement',
  giveBack: 'release',
  openWarm: 'openClaimedWarm',
  openSignIn: 'openIssuer',
  openLogin: 'openLoginClient',
  HeaderInjector: 'HostStandIn',
  makeHeaderInjector: 'makeHostStandIn',
  readSessionTree: 'readTreeEvents',
  connectionRoutes: 'connectedClientRoutes',
  takeTurns: 'oneByOne',
  auditSlots: 'compareSlots',
  replayEvents: 'sendGreeting',
};

/** Base names of files, without their ending. */
const retiredFiles: Readonly<Record<string, string>> = {
  desk: 'turn-loop',
  'move-turn': 'apply-event',
  'commit-unleased': 'apply-event',
  'collect-ends': 'collect-tool-results',
  'settle-call': 'complete-delegated-call',
  'hand-out': 'delegate-calls',
  'sandbox-entry': 'lazy-sandbox',
  'turn-watch': 'turn-monitor',
  'look-at-children': 'collect-child-results',
  'wake-parent': 'notify-parent',
  'told-above': 'forward-to-root',
  audience: 'publisher',
  'greet-connection': 'on-connected',
  'place-store': 'slot-store',
  'create-with-place': 'create-session-when-free',
  'restore-place': 'restore-path',
  'house-handler': 'lambda-runtime',
  'house-function': 'platform-function',
  'house-functions': 'platform-functions',
  door: 'api-client',
  'wake-ups': 'schedules',
  'kept-log': 'log-group',
  overview: 'dashboard',
  'schedule-tender': 'schedule-dispatcher',
  echo: 'provider-state',
  'history-store': 'metrics-store',
  family: 'session-tree',
  gate: 'approval-prompt',
  'first-words': 'refusal-status',
  'own-host': 'origin-check',
  'held-values': 'ttl-cache',
  'turns-in-short': 'turn-summaries',
  'heard-output': 'output-dedup',
  'exit-line': 'exit-code',
  'asked-call': 'requested-call',
  'asked-now': 'sessions-awaiting-approval',
  'kept-output': 'running-call-output',
  'kept-build': 'build-cache',
  'kept-sandbox': 'kept-by-processes',
  'files-left': 'files-at-turn-end',
  'leave-step': 'abandon-step',
  'take-over': 'recover-after-restart',
  'rest-sandbox': 'stop-idle-sandbox',
  'return-sandbox': 'restart-sandbox-for-approval',
  'settle-sources': 'release-fork-pins',
  'record-informed': 'record-loss-notice',
  'tell-of-end': 'notify-sandbox-end',
  'enter-execution': 'begin-execution',
  'keep-renewed': 'renew-until-stopped',
  'renew-lease-or-claim': 'renew-until-stopped',
  'living-project': 'project-not-deleted',
  'turn-as-read': 'session-changed-since-read',
  'own-page': 'request-credentials',
  'slow-answer': 'keep-alive-response',
  'patient-timer': 'input-timeout',
  'take-up': 'retry-with-next-holder',
  'waiting-room': 'waiting-streams',
  'close-opened': 'close-sockets-of-credential',
  'leave-project': 'remove-project-from-schedule',
  'ruled-rows': 'rule-audit-rows',
  'spoken-text': 'history-text',
  'at-rest': 'leak-checks',
  meddler: 'interrupting-user',
  'after-step': 'session-after-step',
  transitions: 'model-steps',
  'call-ended': 'call-steps',
  'session-files': 'read-files',
  'cancel-by-holder': 'ask-holder-to-cancel',
  'run-schedule': 'dispatch-schedule',
  'operator-choice': 'configured-providers',
  'model-wire': 'broker-wire',
  injection: 'secret-headers',
  perform: 'janitor-tasks',
  'audit-sessions': 'check-sessions',
  'audit-leftovers': 'leftovers',
  'open-warm-sandbox': 'open-claimed-warm-sandbox',
  'thinking-ended': 'model-steps',
  foreign: 'refused-requests',
  'key-cache': 'issuer-keys',
  'header-injector': 'host-stand-in',
  'read-session-tree': 'read-tree-events',
  'open-prompt': 'restart-for-prompt',
  'connection-routes': 'connected-client-routes',
  'connection-view': 'connected-client-view',
  'link-routes': 'file-link-routes',
  'link-view': 'file-link-view',
  turns: 'file-steps',
  acknowledge: 'nag-exceptions',
  'session-label': 'status-label',
  'replay-events': 'send-greeting',
  'open-sandbox': 'acquire-with-heartbeat',
  'sandbox-in-use': 'kept-by-processes',
  'session-sandbox': 'acquire-for-request',
  'turn-budget': 'over-budget',
  'rate-limiter': 'rate-buckets',
  'chosen-provider': 'configured-providers',
  'model-access': 'provider-access',
  'mcp-response': 'response-form',
  sweep: 'sweep-in-rounds',
  'audit-slots': 'compare-slots',
};

const words = new RegExp(`(?<![\\w$])(?:${Object.keys(retired).join('|')})(?![\\w$])`, 'g');
const isRuleItself = (path: string): boolean =>
  path.startsWith('tests/tidy/language.') || path.startsWith('docs/adr/');
const nameOf = (path: string): string => path.replace(/^.*\//, '').replace(/\..*$/, '');

/** A relative clause, a pronoun or a preposition in front: the reader has to wait for the subject. */
const clause = /^(?:Who|Whoever|Whose|What|Whatever|Whether|How|Where|Which|Of|One that|Those)\b/;
/** At the start of a paragraph, of an item of a list, or behind another sentence; questions may. */
const openingClause = /(?:(?<=\n\n)|^[-*] |[.!?:]\s+)(Who|Whoever|Whose|What|Whatever)\b(?![^.!?]*\?)/gm;
const sentenceStart = /(?:^|[.!?:] )(Who|Whoever|Whose|What|Whatever|Whether|How)\b(?![^.!?]*\?)/;

/** They hide the actor, or the time. The comments of tests may have them. */
const vague = /\b(?:nobody|somebody|whoever|meanwhile)\b/gi;
const isOfTests = (path: string): boolean => /^tests\/|\.test\.ts$|\/(?:fixtures|tests)\//.test(path);

const vagueComplaints = (path: string, line: number, prose: string): readonly Complaint[] =>
  Array.from(prose.matchAll(vague), ({ 0: word, index }) => ({
    path,
    line: line + prose.slice(0, index).split('\n').length - 1,
    message: `"${word}": name the actor or the time`,
  }));

const comments = (
  text: string,
): readonly { readonly line: number; readonly text: string; readonly isHeader: boolean }[] =>
  Array.from(text.matchAll(/\/\*\*?[\s\S]*?\*\/|(?<=^\s*)\/\/.*$/gm), (match) => ({
    line: text.slice(0, match.index).split('\n').length,
    text: match[0]
      .replaceAll(/^\s*(?:\/\*\*?|\*\/|\*|\/\/)[ \t]?/gm, '')
      .replace(/\s*\*\/\s*$/, '')
      .replaceAll(/\s*\n\s*/g, ' ')
      .trim(),
    isHeader: /^(?:#!.*\n)?(?:<script[^>]*>\s*)?$/.test(text.slice(0, match.index)),
  }));

const commentComplaints = ({ path, text }: RepositoryFile): readonly Complaint[] =>
  comments(text).flatMap(({ line, text: comment, isHeader }) => [
    ...openingComplaints({ path, line }, comment, isHeader),
    ...(isOfTests(path) ? [] : vagueComplaints(path, line, comment)),
  ]);

const openingComplaints = (
  place: { readonly path: string; readonly line: number },
  comment: string,
  isHeader: boolean,
): readonly Complaint[] => {
  if (clause.test(comment) && isHeader)
    return [{ ...place, message: `the header opens with a clause: ${comment.slice(0, 60)}` }];
  const start = sentenceStart.exec(comment);
  if (start === null) return [];
  const shown = comment.slice(start.index, start.index + 60);
  return [{ ...place, message: `a sentence begins with "${start[1]}": ${shown}` }];
};

/** Sentences of documents, but for headings, rows of tables and code. Decision records keep the words of their day. */
const documentComplaints = ({ path, text }: RepositoryFile): readonly Complaint[] => {
  const prose = text.replaceAll(/```[\s\S]*?```|^(?:#|\|).*$/gm, (part) => part.replaceAll(/[^\n]/g, ' '));
  const openings = Array.from(prose.matchAll(openingClause), ({ 0: sentence, 1: opening, index }) => ({
    path,
    line: text.slice(0, index + sentence.length).split('\n').length,
    message: `a sentence begins with "${opening}"`,
  }));
  return [...openings, ...vagueComplaints(path, 1, prose)];
};

const wordComplaints = ({ path, text }: RepositoryFile): readonly Complaint[] => {
  const replacedBy = retiredFiles[nameOf(path)];
  const named =
    replacedBy === undefined || path.startsWith('docs/')
      ? []
      : [{ path, line: 1, message: `the file is called ${replacedBy} now` }];
  const used = Array.from(text.matchAll(words), ({ 0: word, index }) => ({
    path,
    line: text.slice(0, index).split('\n').length,
    message: `${word} is called ${retired[word]} now`,
  }));
  return [...named, ...used];
};

const isCommented = (file: RepositoryFile): boolean => isSource(file) || /^web\/.*\.vue$/.test(file.path);
const isWritten = ({ path }: RepositoryFile): boolean =>
  /\.(?:ts|js|mjs|vue|md|patch|sh)$/.test(path) && path !== 'CHANGELOG.md';

const isDocument = ({ path }: RepositoryFile): boolean =>
  path.endsWith('.md') && !path.startsWith('docs/adr/');

export const languageComplaints = (files: readonly RepositoryFile[]): readonly Complaint[] =>
  files
    .filter(({ path }) => !isRuleItself(path))
    .flatMap((file) => [
      ...(isWritten(file) ? wordComplaints(file) : []),
      ...(isCommented(file) ? commentComplaints(file) : []),
      ...(isDocument(file) ? documentComplaints(file) : []),
    ]);
