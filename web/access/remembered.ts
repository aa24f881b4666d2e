/**
 * What this tab remembers over a reload: the token it was opened with, and the session it is in.
 *
 * The token arrives in the fragment, which no server sees, and leaves the address bar at once. It is kept for the life
 * of the tab; a browser that keeps nothing works until the reload.
 */
const tokenKey = 'sallyport.token';
const sessionKey = 'sallyport.session';

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

/** The token of a fragment such as `#token=sp_…`, taken out of the address bar. */
export const takeGivenToken = (): string | null => {
  const given = new URLSearchParams(location.hash.slice(1)).get('token');
  if (given === null) return null;
  history.replaceState(null, '', location.pathname + location.search);
  if (given !== read(tokenKey)) rememberSession(null);
  rememberToken(given);
  return given;
};

export const rememberedToken = (): string | null => read(tokenKey);
export const rememberToken = (token: string | null): void => write(tokenKey, token);

export const rememberedSession = (): string | null => read(sessionKey);
export const rememberSession = (sessionId: string | null): void => write(sessionKey, sessionId);
