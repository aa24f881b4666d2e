/**
 * The token of a tab for another tab of the same browser: a link that is opened in a new tab is signed in. Nothing is stored,
 * so the token is gone with the last tab. Only pages of the app's own origin take part; a preview has another one.
 */
const channelName = 'sallyport.token';
/** Tabs in the background answer late, if at all. */
const answerMs = 500;

type Said =
  | { readonly asks: true }
  | { readonly token: string }
  | { readonly ended: string | null }
  | { readonly cookieOf: string };

type Sharing = {
  readonly tokenOf: () => string | null;
  /** Another tab signed out with this token; null: with the cookie of this browser. */
  readonly onEnd: (token: string | null) => unknown;
  /** The cookie of this browser is the sign-in of the person with this id now. */
  readonly onCookie: (id: string) => unknown;
};

/** Answers other tabs, from now on. */
export const shareToken = ({ tokenOf, onEnd, onCookie }: Sharing): void => {
  const channel = new BroadcastChannel(channelName);
  channel.addEventListener('message', ({ data }: MessageEvent<Said>) => {
    if ('ended' in data) onEnd(data.ended);
    if ('cookieOf' in data) onCookie(data.cookieOf);
    const token = 'asks' in data ? tokenOf() : null;
    if (token !== null) channel.postMessage({ token } satisfies Said);
  });
};

const say = (said: Said): void => {
  const channel = new BroadcastChannel(channelName);
  channel.postMessage(said);
  channel.close();
};

export const endToken = (token: string | null): void => say({ ended: token });

export const sayCookie = (id: string): void => say({ cookieOf: id });

/** The first answer of another tab; null when none has a token. */
export const tokenOfAnotherTab = (): Promise<string | null> =>
  new Promise((resolve) => {
    const channel = new BroadcastChannel(channelName);
    const settle = (token: string | null): void => {
      channel.close();
      resolve(token);
    };
    channel.addEventListener('message', ({ data }: MessageEvent<Said>) => {
      if ('token' in data) settle(data.token);
    });
    setTimeout(settle, answerMs, null);
    channel.postMessage({ asks: true } satisfies Said);
  });
