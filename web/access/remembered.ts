/**
 * What this tab remembers over a reload: the token it was opened with, the session it is in, and what was said there
 * and waits to be taken up.
 *
 * The token arrives in the fragment, which no server sees, and leaves the address bar at once. It is kept for the life
 * of the tab; a browser that keeps nothing works until the reload.
 */
const tokenKey = 'sallyport.token';
const sessionKey = 'sallyport.session';
const unsentKey = 'sallyport.unsent';
/** How long the server knows a message again that is sent twice, in milliseconds. */
const knownAgainMs = 86_400_000;

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
    // A browser may forbid storage; the page then forgets at the next reload and works until then.
  }
};

/** The token of a fragment such as `#token=sp_…`, taken out of the address bar and kept nowhere yet. */
export const takeGivenToken = (): string | null => {
  const given = new URLSearchParams(location.hash.slice(1)).get('token');
  if (given === null) return null;
  history.replaceState(null, '', location.pathname + location.search);
  return given;
};

export const rememberedToken = (): string | null => read(tokenKey);
export const rememberToken = (token: string | null): void => write(tokenKey, token);

export const rememberedSession = (): string | null => read(sessionKey);
export const rememberSession = (sessionId: string | null): void => write(sessionKey, sessionId);

export type Unsent = { readonly id: string; readonly text: string };
type Kept = Unsent & { readonly at: number };

const keptUnsent = (): Readonly<Record<string, readonly Kept[]>> => JSON.parse(read(unsentKey) ?? '{}');

/** Said in that session and not known to be taken up; what is too old to be sent again is left out. */
export const rememberedUnsent = (sessionId: string): readonly Unsent[] =>
  (keptUnsent()[sessionId] ?? []).filter(({ at }) => Date.now() - at < knownAgainMs);

export const rememberUnsent = (sessionId: string, messages: readonly Unsent[]): void => {
  const { [sessionId]: before = [], ...others } = keptUnsent();
  if (before.length === 0 && messages.length === 0) return;
  const saidAt = new Map(before.map(({ id, at }) => [id, at]));
  const own = messages.map(({ id, text }) => ({ id, text, at: saidAt.get(id) ?? Date.now() }));
  write(unsentKey, JSON.stringify(own.length === 0 ? others : { ...others, [sessionId]: own }));
};

export const forgetUnsent = (): void => write(unsentKey, null);
