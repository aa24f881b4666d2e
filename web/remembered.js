/**
 * What this tab remembers over a reload: the token it was opened with, and the session it is in.
 *
 * The token arrives in the fragment, which no server sees, and leaves the address bar at once. It is kept for
 * the life of the tab; a browser that keeps nothing works until the reload.
 */

const tokenKey = 'sallyport.token';
const sessionKey = 'sallyport.session';

/**
 * @param {string} key
 * @returns {string | null}
 */
const read = (key) => {
  try {
    return sessionStorage.getItem(key);
  } catch {
    return null;
  }
};

/**
 * @param {string} key
 * @param {string | null} value
 */
const write = (key, value) => {
  try {
    if (value === null) sessionStorage.removeItem(key);
    else sessionStorage.setItem(key, value);
  } catch {
    // A browser may forbid storage; the page then forgets at the next reload and works until then.
  }
};

/** @returns {string | null} */
export const takeToken = () => {
  const given = new URLSearchParams(location.hash.slice(1)).get('token');
  if (given === null) return read(tokenKey);
  history.replaceState(null, '', location.pathname + location.search);
  if (given !== read(tokenKey)) rememberSession(null);
  rememberToken(given);
  return given;
};

/** @param {string | null} token */
export const rememberToken = (token) => write(tokenKey, token);

/** @returns {string | null} */
export const rememberedSession = () => read(sessionKey);

/** @param {string | null} sessionId */
export const rememberSession = (sessionId) => write(sessionKey, sessionId);
