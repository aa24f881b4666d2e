/**
 * Storage of this tab over a reload: the token, the open session, the terminal, and the texts of a person: unsent messages, drafts,
 * names of chosen files and an unsaved file. Texts have an owner, and outlive a sign-in that ended by itself.
 *
 * The token arrives in the fragment, which no server sees, and leaves the address bar at once. It lives as long as the
 * tab, which hands it to new ones (shared-token.ts). A browser without storage works until the reload.
 */
import type { ThinkingLevel } from '#shared/domain/model.ts';

const tokenKey = 'sallyport.token';
const sessionKey = 'sallyport.session';
const unsentKey = 'sallyport.unsent';
const draftsKey = 'sallyport.drafts';
const filesKey = 'sallyport.files';
const editKey = 'sallyport.edit';
const ownerKey = 'sallyport.owner';
const terminalKey = 'sallyport.terminal';
/** The server recognizes a message that is sent twice for this long. */
const deduplicatedMs = 86_400_000;
const tooOld = { code: 'not_sent', message: 'it waited for more than a day', suggestions: [] } as const;

const read = (key: string): string | null => {
  try {
    return sessionStorage.getItem(key);
  } catch {
    return null;
  }
};

const write = (key: string, value: string | null): void => {
  try {
    if (value === null) sessionStorage.removeItem(key);
    else sessionStorage.setItem(key, value);
  } catch {
    // A browser may forbid storage: the page works until the reload.
  }
};

/** The token of a fragment such as `#token=sp_…`, removed from the address bar and not yet stored. */
export const takeTokenFromUrl = (): string | null => {
  const given = new URLSearchParams(location.hash.slice(1)).get('token');
  if (given === null) return null;
  history.replaceState(null, '', location.pathname + location.search);
  return given;
};

/** The terminal that was shown last, by the id of its process. */
export const rememberedTerminal = (): string | null => read(terminalKey);
export const rememberTerminal = (processId: string | null): void => write(terminalKey, processId);

export const rememberedToken = (): string | null => read(tokenKey);
export const rememberToken = (token: string | null): void => write(tokenKey, token);

export const rememberedSession = (): string | null => read(sessionKey);
export const rememberSession = (sessionId: string | null): void => write(sessionKey, sessionId);

export type Unsent = {
  readonly id: string;
  readonly text: string;
  readonly attachments?: readonly { readonly path: string }[];
  /** Of the model and its thinking, when it was written. */
  readonly choices?: { readonly model?: string | undefined; readonly thinking?: ThinkingLevel | undefined };
  /** The server did not take it: a person sends it again. */
  readonly refusal?: {
    readonly code: string;
    readonly message: string;
    readonly suggestions: readonly string[];
  };
};
type StoredMessage = Unsent & { readonly at: number };

const storedUnsent = (): Readonly<Record<string, readonly StoredMessage[]>> =>
  JSON.parse(read(unsentKey) ?? '{}');

/** Messages of a session that the log does not have; those too old to be sent by themselves are as if refused. */
export const rememberedUnsent = (sessionId: string): readonly Unsent[] =>
  (storedUnsent()[sessionId] ?? []).map((message) =>
    Date.now() - message.at < deduplicatedMs ? message : { refusal: tooOld, ...message },
  );

export const rememberUnsent = (sessionId: string, messages: readonly Unsent[]): void => {
  const { [sessionId]: before = [], ...others } = storedUnsent();
  if (before.length === 0 && messages.length === 0) return;
  const sentAt = new Map(before.map(({ id, at }) => [id, at]));
  const own = messages.map(({ id, text, attachments, choices, refusal }) => ({
    ...{ id, text, at: sentAt.get(id) ?? Date.now() },
    ...(attachments === undefined ? {} : { attachments }),
    ...(choices === undefined ? {} : { choices }),
    ...(refusal === undefined ? {} : { refusal }),
  }));
  const next = own.length === 0 ? others : { ...others, [sessionId]: own };
  write(unsentKey, Object.keys(next).length === 0 ? null : JSON.stringify(next));
};

/** Texts of message boxes by session, the newest at the end. */
export type Drafts = ReadonlyMap<string, string>;

export const rememberedDrafts = (): Drafts => new Map(JSON.parse(read(draftsKey) ?? '[]'));

/** Where the storage has no room for them, the earlier ones are removed all the same. */
export const rememberDrafts = (drafts: Drafts): void => {
  write(draftsKey, null);
  if (drafts.size > 0) write(draftsKey, JSON.stringify([...drafts]));
};

const storedFiles = (): Readonly<Record<string, readonly string[]>> => JSON.parse(read(filesKey) ?? '{}');

/** Names of the files that were chosen for the next message of a session; the files themselves end with the page. */
export const rememberedFiles = (session: string): readonly string[] => storedFiles()[session] ?? [];
export const rememberFiles = (session: string, names: readonly string[]): void => {
  const all = JSON.stringify({ ...storedFiles(), [session]: names.length === 0 ? undefined : names });
  write(filesKey, all === '{}' ? null : all);
};

/** A file that was edited and not saved, with its size and time when it was read. */
export type UnsavedFile = {
  readonly sessionId: string;
  readonly path: string;
  readonly text: string;
  readonly version: { readonly size: number; readonly modifiedAt: string } | null;
};
/** Where the storage has no room for it, an earlier one is removed all the same. */
export const rememberUnsavedFile = (file: UnsavedFile): void => {
  write(editKey, null);
  write(editKey, JSON.stringify(file));
};

/** It stays until its editor saves or leaves it. */
export const rememberedUnsavedFile = (sessionId: string, path: string): UnsavedFile | undefined => {
  const file: UnsavedFile | null = JSON.parse(read(editKey) ?? 'null');
  return file?.sessionId === sessionId && file.path === path ? file : undefined;
};
export const forgetUnsavedFile = (): void => write(editKey, null);

/** The id of the token or the person whose texts these are. */
export const rememberedOwner = (): string | null => read(ownerKey);
export const rememberOwner = (id: string): void => write(ownerKey, id);

const textKeys = [unsentKey, draftsKey, filesKey, editKey];

export const hasTexts = (): boolean => textKeys.some((key) => read(key) !== null);
export const forgetTexts = (): void => {
  for (const key of [...textKeys, ownerKey]) write(key, null);
};
