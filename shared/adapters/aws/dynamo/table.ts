/**
 * The one table: its client, its keys, and the distinction between a lost condition and a failure.
 *
 * `pk` and `sk` are built here and nowhere else, and so are the prefixes by which they are read. Sort keys are named so that one
 * query from `INBOX#` on reads all a turn needs (inbox, history, turn, subscribers) and none of the log.
 */
import type { TransactionCanceledException } from '@aws-sdk/client-dynamodb';
import type { DynamoDBDocumentClient } from '@aws-sdk/lib-dynamodb';
import { unmarshall } from '@aws-sdk/util-dynamodb';

export type Table = {
  readonly client: DynamoDBDocumentClient;
  readonly name: string;
  /** Waits for a random part of this time, between two attempts. */
  readonly jitter: (millisecondsMax: number) => Promise<void>;
};

export const systemJitter: Table['jitter'] = (millisecondsMax) =>
  new Promise((resolve) => setTimeout(resolve, Math.random() * millisecondsMax));

export type Item = Readonly<Record<string, unknown>>;

export type Key = Readonly<Record<'pk' | 'sk', string>>;

const digits = (value: number, width: number): string => String(value).padStart(width, '0');

/** All calls that wait for a person. */
export const waitingPartition = 'WAITING';
/** The sockets that receive the number of waiting calls. */
export const approverPartition = 'APPROVERS';

/** Beginnings of keys by which items are read, or told from others. */
export const prefixes = {
  inbox: 'INBOX#',
  message: 'MESSAGE#',
  caller: 'OFFER#',
  subscriber: 'WATCHER#',
  child: 'CHILD#',
  sandboxLog: 'LOG#',
  pendingDelivery: 'WAITING#',
  /** Of a partition. */
  slots: 'SLOTS#',
} as const;

export const keys = {
  session: (id: string) => ({ pk: `SESSION#${id}`, sk: 'META' }),
  turn: (id: string) => ({ pk: `SESSION#${id}`, sk: 'TURN' }),
  /** The further parts of a turn that does not fit into its own item, from 1. */
  turnPart: (id: string, part: number) => ({ pk: `SESSION#${id}`, sk: `STATE#${part}` }),
  /** Beside the root session: in front of the turn, where the read of a turn's version skips it. */
  tree: (root: string) => ({ pk: `SESSION#${root}`, sk: 'TREE' }),
  /** Read with the rest of what a turn needs. */
  instructions: (id: string) => ({ pk: `SESSION#${id}`, sk: 'INSTRUCTIONS' }),
  egressUsage: (id: string) => ({ pk: `SESSION#${id}`, sk: 'EGRESS' }),
  environment: (id: string) => ({ pk: `SESSION#${id}`, sk: 'ENVIRONMENT' }),
  event: (id: string, seq: number) => ({ pk: `SESSION#${id}`, sk: `EVENT#${digits(seq, 12)}` }),
  accepted: (id: string, messageId: string) => ({ pk: `SESSION#${id}`, sk: `ACCEPTED#${messageId}` }),
  /** Left by a session that was deleted, whose id may be derived again. */
  forgotten: (id: string) => ({ pk: `SESSION#${id}`, sk: 'FORGOTTEN' }),
  /** Of a call that runs; before `INBOX#`, where no read of a turn comes. */
  output: (id: string, key: string) => ({ pk: `SESSION#${id}`, sk: `CALL#${key}` }),
  inbox: (id: string, at: number, messageId: string) => ({
    pk: `SESSION#${id}`,
    sk: `${prefixes.inbox}${digits(at, 13)}#${messageId}`,
  }),
  message: (id: string, index: number) => ({
    pk: `SESSION#${id}`,
    sk: `${prefixes.message}${digits(index, 12)}`,
  }),
  /** Read with the rest of what a turn needs: behind its messages. */
  caller: (id: string, callerId: string) => ({ pk: `SESSION#${id}`, sk: `${prefixes.caller}${callerId}` }),
  /** Behind the turn: one read from there on has its version and its subscribers. */
  subscriber: (id: string, connectionId: string) => ({
    pk: `SESSION#${id}`,
    sk: `${prefixes.subscriber}${connectionId}`,
  }),
  /** A call of a caller's tool from a sandbox: in front of what a turn reads. */
  callerCall: (id: string, requestId: string) => ({ pk: `SESSION#${id}`, sk: `CALLERCALL#${requestId}` }),
  /** An entry at the root of a tree for each of its descendants. */
  child: (root: string, at: number, id: string) => ({
    pk: `SESSION#${root}`,
    sk: `${prefixes.child}${digits(at, 13)}#${id}`,
  }),
  connection: (id: string) => ({ pk: `CONNECTION#${id}`, sk: 'META' }),
  /** The follower that sends it the output of a process. */
  terminal: (connection: string, process: string) => ({
    pk: `CONNECTION#${connection}`,
    sk: `TERMINAL#${process}`,
  }),
  /** Of the token, or the sign-in of a browser, that opened it. */
  openedBy: (credential: string, connection: string) => ({
    pk: `CONNECTION#BY#${credential}`,
    sk: `SOCKET#${connection}`,
  }),
  openMessages: (id: string) => ({ pk: `CONNECTION#${id}`, sk: 'OPEN' }),
  workspace: (id: string) => ({ pk: `WORKSPACE#${id}`, sk: 'META' }),
  /** Objects of the workspace that a snapshot or a fork needs. */
  pin: (owner: string, holder: string) => ({ pk: `WORKSPACE#${owner}`, sk: `PIN#${holder}` }),
  /** The version of the set of pins. */
  pins: (owner: string) => ({ pk: `WORKSPACE#${owner}`, sk: 'PINS' }),
  /** The second deletion of a deleted workspace's objects, for those of a late save. */
  remains: (id: string) => ({ pk: `WORKSPACE#${id}`, sk: 'REMAINS' }),
  claim: (entry: string, generation: number) => ({ pk: `WORKSPACE#${entry}`, sk: `CLAIM#${generation}` }),
  sandboxLog: (id: string, at: number, part: string) => ({
    pk: `WORKSPACE#${id}`,
    sk: `${prefixes.sandboxLog}${digits(at, 13)}#${part}`,
  }),
  process: (workspace: string, id: string) => ({ pk: `WORKSPACE#${workspace}`, sk: `PROCESS#${id}` }),
  slots: (holder: string) => ({ pk: `${prefixes.slots}${holder}`, sk: 'COUNTER' }),
  slot: (holder: string, session: string) => ({ pk: `${prefixes.slots}${holder}`, sk: `SLOT#${session}` }),
  project: (id: string) => ({ pk: `PROJECT#${id}`, sk: 'META' }),
  namedWorkspace: (project: string, at: number, id: string) => ({
    pk: `PROJECT#${project}`,
    sk: `WORKSPACE#${digits(at, 13)}#${id}`,
  }),
  projectSession: (project: string, at: number, id: string) => ({
    pk: `PROJECT#${project}`,
    sk: `SESSION#${digits(at, 13)}#${id}`,
  }),
  snapshot: (project: string, id: string) => ({ pk: `PROJECT#${project}`, sk: `SNAPSHOT#${id}` }),
  snapshotCount: (project: string) => ({ pk: `PROJECT#${project}`, sk: 'SNAPSHOT' }),
  secrets: (project: string) => ({ pk: `PROJECT#${project}`, sk: 'SECRETS' }),
  mcpServer: (project: string, server: string) => ({ pk: `PROJECT#${project}`, sk: `MCP#${server}` }),
  mcpServerCount: (project: string) => ({ pk: `PROJECT#${project}`, sk: 'MCP' }),
  schedule: (id: string) => ({ pk: `SCHEDULE#${id}`, sk: 'META' }),
  scheduleOf: (project: string, id: string) => ({ pk: `PROJECT#${project}`, sk: `SCHEDULE#${id}` }),
  scheduleCount: (project: string) => ({ pk: `PROJECT#${project}`, sk: 'SCHEDULE' }),
  openRun: (id: string, run: string) => ({ pk: `SCHEDULE#${id}`, sk: `OPEN#${run}` }),
  schedulePin: (id: string, target: string) => ({ pk: `SCHEDULE#${id}`, sk: `PIN#${target}` }),
  schedulePrompt: (id: string) => ({ pk: `SCHEDULE#${id}`, sk: 'PROMPT' }),
  endedRun: (id: string, run: string) => ({ pk: `SCHEDULE#${id}`, sk: `RUN#${run}` }),
  /** All webhooks side by side: one query reads them for an event. */
  webhook: (id: string) => ({ pk: 'NOTIFY', sk: `WEBHOOK#${id}` }),
  /** The version of the set, behind the last webhook. */
  webhooks: () => ({ pk: 'NOTIFY', sk: 'WEBHOOKS' }),
  /** The public address of the deployment, recorded for the sweep. */
  publicUrl: () => ({ pk: 'NOTIFY', sk: 'ADDRESS' }),
  /** In a partition of its own, which one function may read. */
  webhookSecret: (id: string) => ({ pk: `WEBHOOKSECRET#${id}`, sk: 'META' }),
  notice: (id: string) => ({ pk: `NOTICE#${id}`, sk: 'META' }),
  sender: (webhook: string) => ({ pk: `WEBHOOK#${webhook}`, sk: 'SENDER' }),
  /** By the time of the next attempt. */
  pendingDelivery: (webhook: string, nextAt: number, id: string) => ({
    pk: `WEBHOOK#${webhook}`,
    sk: `${prefixes.pendingDelivery}${digits(nextAt, 13)}#${id}`,
  }),
  /** Its row in the list, by the time of the event. */
  delivery: (webhook: string, at: number, id: string) => ({
    pk: `WEBHOOK#${webhook}`,
    sk: `DELIVERY#${digits(at, 13)}#${id}`,
  }),
  token: (hash: string) => ({ pk: `TOKEN#${hash}`, sk: 'META' }),
  tokenId: (id: string) => ({ pk: `TOKENID#${id}`, sk: 'META' }),
  oauthClient: (id: string) => ({ pk: `OAUTH#CLIENT#${id}`, sk: 'META' }),
  /** The registrations of one hour. */
  registrations: (from: string, hour: number) => ({ pk: `OAUTH#REGISTERED#${from}`, sk: `HOUR#${hour}` }),
  oauthCode: (hash: string) => ({ pk: `OAUTH#CODE#${hash}`, sk: 'META' }),
  grant: (family: string) => ({ pk: `OAUTH#GRANT#${family}`, sk: 'META' }),
  rate: (key: string) => ({ pk: `RATE#${key}`, sk: 'BUCKET' }),
  frames: (connection: string) => ({ pk: `CONNECTION#${connection}`, sk: 'FRAMES' }),
  runningCall: (caller: string, id: string) => ({ pk: `CALL#${caller}`, sk: `RUN#${id}` }),
  /** A partition a month: a year is read in thirteen queries at most. */
  audit: (at: number, part: string) => ({
    pk: `AUDIT#${new Date(at).toISOString().slice(0, 7)}`,
    sk: `${digits(at, 13)}#${part}`,
  }),
  /** Read with every session for which a frame arrives. */
  features: () => ({ pk: 'DEPLOYMENT', sk: 'FEATURES' }),
  waiting: (askedAt: string, session: string) => ({ pk: waitingPartition, sk: `${askedAt}#${session}` }),
  approver: (connectionId: string) => ({ pk: approverPartition, sk: `SOCKET#${connectionId}` }),
  usagePoint: (scope: string, at: number) => ({ pk: `HISTORY#${scope}`, sk: `AT#${digits(at, 13)}` }),
  preview: (hash: string) => ({ pk: `PREVIEW#${hash}`, sk: 'META' }),
  fileLink: (hash: string) => ({ pk: `LINK#${hash}`, sk: 'META' }),
  ticket: (hash: string) => ({ pk: `TICKET#${hash}`, sk: 'META' }),
} as const;

/**
 * A further part of a message that does not fit into its own item, from 1: behind all messages of the inbox, or of the
 * conversation, and read with the rest of what a turn needs.
 */
export const keyOfPart = ({ pk, sk }: Key, part: number): Key => ({
  pk,
  sk: `${sk.replace('#', 'PART#')}#${part}`,
});

/** The first sort key of a turn's read: everything before it is log. */
export const workFrom = prefixes.inbox;

/**
 * The janitor's index is spread over so many partitions for each kind, so that no write rate meets one partition's ceiling:
 * every renewal of a lease moves its session. A number may grow: items that are written before stay where they are, and are
 * read.
 */
export const dueShards = {
  session: 16,
  workspace: 4,
  remains: 4,
  pin: 4,
  slots: 4,
  mcp: 4,
  schedule: 4,
  delivery: 4,
} as const;

export type DueKind = keyof typeof dueShards;

export const duePartition = (kind: DueKind, shard: number): string => `DUE#${kind}#${shard}`;

/** A stable number, even over ids of any form (FNV-1a). */
const hashOf = (id: string): number => {
  let hash = 0x811c9dc5;
  for (let at = 0; at < id.length; at += 1) hash = Math.imul(hash ^ id.charCodeAt(at), 0x01000193);
  return (hash ^ (hash >>> 16)) >>> 0;
};

/** The values of `duePk` and `dueAt` of one item. */
export const dueValues = (kind: DueKind, id: string, dueAt: number) => ({
  ':duePk': duePartition(kind, hashOf(id) % dueShards[kind]),
  ':dueAt': dueAt,
});

/** `#state` stands for `state`: many names are reserved words, and every name must be declared. */
export const namesIn = (expression: string): Record<string, string> =>
  Object.fromEntries(
    [...expression.matchAll(/#(\w+)/g)].map(([placeholder, name]) => [placeholder, String(name)]),
  );

/** They as a field of a request; an expression without names has none, since DynamoDB refuses an empty one. */
export const namesDeclared = (
  expression: string,
): { readonly ExpressionAttributeNames?: Record<string, string> } => {
  const names = namesIn(expression);
  return Object.keys(names).length === 0 ? {} : { ExpressionAttributeNames: names };
};

export const isConditionFailed = (error: unknown): boolean =>
  error instanceof Error && error.name === 'ConditionalCheckFailedException';

/** The item as it was when a condition failed; the document client leaves it marshalled. */
export const itemOfFailure = (error: unknown): Item | undefined => {
  const item: unknown = error instanceof Error ? Reflect.get(error, 'Item') : undefined;
  return item === undefined ? undefined : unmarshall(item as Parameters<typeof unmarshall>[0]);
};

export type Cancellation = { readonly code: string; readonly item?: Item };

/**
 * The reason for which each action of a transaction was refused, in order (`None` for those that were not);
 * undefined for other errors.
 */
export const cancellations = (error: unknown): readonly Cancellation[] | undefined => {
  if (!(error instanceof Error) || error.name !== 'TransactionCanceledException') return undefined;
  const reasons = (error as TransactionCanceledException).CancellationReasons ?? [];
  return reasons.map(({ Code, Item }) =>
    Item === undefined ? { code: Code ?? 'None' } : { code: Code ?? 'None', item: unmarshall(Item) },
  );
};
