/**
 * The ways out of a page: each asks a given origin for a path that is named like the way. It runs inside the page,
 * so it is one function that uses nothing from outside.
 */
export const waysOut = async ({
  trap,
  own,
}: {
  /** An origin that the page has no business with. */
  readonly trap: string;
  /** The path of the preview itself, whose server redirects to what `to` says. */
  readonly own: string;
}): Promise<void> => {
  const aWhileMs = 3000;
  const to = (way: string): string => `${trap}/${way}`;
  const element = (name: string, attributes: Record<string, string>, text = ''): void => {
    const made = document.createElement(name);
    for (const [key, value] of Object.entries(attributes)) made.setAttribute(key, value);
    made.textContent = text;
    document.body.append(made);
  };
  const ways: readonly (() => unknown)[] = [
    () => fetch(to('fetch')),
    () => fetch(to('fetch-no-cors'), { mode: 'no-cors', method: 'POST', body: 'x' }),
    () => fetch(to('keepalive'), { mode: 'no-cors', keepalive: true }),
    () => fetch(`${own}redirect?to=${to('redirect')}`),
    () => fetch(`${own}redirect?to=${to('redirect-no-cors')}`, { mode: 'no-cors' }),
    () => navigator.sendBeacon(to('beacon'), 'x'),
    () => new WebSocket(to('socket').replace('http', 'ws')),
    () => new EventSource(to('event-source')),
    () => new Worker(to('worker')),
    () => new Worker(`${own}redirect?to=${to('worker-redirect')}`),
    () =>
      new Worker(
        URL.createObjectURL(
          new Blob([`fetch('${to('worker-fetch')}'); importScripts('${to('import-scripts')}')`]),
        ),
      ),
    () => navigator.serviceWorker?.register(to('service-worker')),
    () => {
      const request = new XMLHttpRequest();
      request.open('GET', to('xhr'));
      request.send();
    },
    () => new Function('place', 'return import(place)')(to('import')),
    () => {
      new Image().src = to('image');
    },
    () => {
      new Image().src = `${own}redirect?to=${to('image-redirect')}`;
    },
    () => new Audio(to('audio')).play(),
    () => new FontFace('x', `url(${to('font')})`).load(),
    () => element('script', { src: to('script') }),
    () => element('link', { rel: 'stylesheet', href: to('stylesheet') }),
    () => element('link', { rel: 'icon', href: to('icon') }),
    () => element('link', { rel: 'manifest', href: to('manifest') }),
    () => element('link', { rel: 'prefetch', href: to('prefetch') }),
    () => element('link', { rel: 'preload', as: 'fetch', href: to('preload') }),
    () => element('link', { rel: 'modulepreload', href: to('modulepreload') }),
    () => element('link', { rel: 'prerender', href: to('prerender') }),
    () => element('link', { rel: 'preconnect', href: trap }),
    () => element('style', {}, `@import '${to('css-import')}'; body { background: url(${to('css-image')}) }`),
    () => element('iframe', { src: to('iframe') }),
    () => element('iframe', { srcdoc: `<img src="${to('srcdoc')}">` }),
    () => element('iframe', { src: `data:text/html,<img src="${to('data-frame')}">` }),
    () => element('object', { data: to('object') }),
    () => element('embed', { src: to('embed') }),
    () => element('video', { src: to('video'), poster: to('poster') }),
    () =>
      element(
        'script',
        { type: 'speculationrules' },
        JSON.stringify({
          prefetch: [{ source: 'list', urls: [to('speculation-prefetch')], eagerness: 'immediate' }],
          prerender: [{ source: 'list', urls: [to('speculation-prerender')], eagerness: 'immediate' }],
        }),
      ),
    () => {
      const form = document.createElement('form');
      Object.assign(form, { action: to('form'), method: 'post', target: '_blank' });
      document.body.append(form);
      form.submit();
    },
    () => {
      const link = document.createElement('a');
      link.href = '#';
      link.ping = to('ping');
      link.click();
    },
    async () => {
      const transport = new WebTransport(to('web-transport').replace('http:', 'https:'));
      await transport.ready;
    },
  ];
  for (const way of ways) {
    // A way that is refused at once is closed; the trap says which one was not.
    try {
      await Promise.race([way(), new Promise((resolve) => setTimeout(resolve, 200))]);
    } catch {}
  }
  await new Promise((resolve) => setTimeout(resolve, aWhileMs));
};

/** WebRTC, which asks a STUN server for its own address: over UDP, past every policy that the browser knows. */
export const callOut = async (stun: string): Promise<void> => {
  const connection = new RTCPeerConnection({ iceServers: [{ urls: `stun:${stun}` }] });
  connection.createDataChannel('x');
  await connection.setLocalDescription(await connection.createOffer());
};
