/**
 * A busy day in calls: sessions that work in sandboxes, on the embedded cloud. Each invocation has its own environment, so that
 * the caller of each call is known. `operations/cost/busy-day.ts` prices such a day by its own counts, which must not be below
 * those of this run.
 */
import { once } from 'node:events';
import { WebSocket } from 'ws';
import type { RecordedCall } from '../../local/recorder/start.ts';
import { type EmbeddedCloud, openEmbeddedCloud } from '../../tests/e2e/embedded-cloud.ts';
import { busyDay, countedOfDay } from '../cost/busy-day.ts';
import { openCountingProxy } from './counting-proxy.ts';
import { type BenchResult, table } from './report.ts';

const atOnce = 4;
/** Of what AWS counts as one message. */
const messageBytes = 32 * 1024;
const waitMsMax = 120_000;

export const dayCost = async (): Promise<BenchResult> => {
  const measured = await measureDay();
  const rows = Object.entries(countedOfDay).map(([what, { ofSession }]) => {
    const counted = (measured[what] ?? 0) / busyDay.sessions;
    return { what, counted, ofSession, isMet: counted <= ofSession };
  });
  const others = Object.entries(measured).filter(([what]) => !(what in countedOfDay));
  return {
    title: `a day of ${busyDay.sessions} sessions with ${busyDay.turns} turns each`,
    text: table(
      ['what', 'of the day', 'of a session', 'priced'],
      [
        ...rows.map(({ what, counted, ofSession }) => [
          ...[what, measured[what] ?? 0, counted.toFixed(2), ofSession],
        ]),
        ...others.map(([what, count]) => [what, count, (count / busyDay.sessions).toFixed(2), 'nothing']),
      ],
    ),
    floor: 'no count of a session is over the one that operations/cost/busy-day.ts prices',
    isMet: rows.every(({ isMet }) => isMet) && others.length === 0,
  };
};

type Counts = Readonly<Record<string, number>>;
type Count = (what: string, times?: number) => void;

const measureDay = async (): Promise<Counts> => {
  const counts: Record<string, number> = {};
  const count: Count = (what, times = 1) => {
    counts[what] = (counts[what] ?? 0) + times;
  };
  await using opened = new AsyncDisposableStack();
  const proxy = opened.use(await openCountingProxy());
  const cloud = await openEmbeddedCloud({
    variables: { AWS_ENDPOINT_URL_DYNAMODB: proxy.url, LLM_PROVIDER: 'demo', MSB_MAX_SESSIONS: '100' },
    mode: { kind: 'strict' },
    recordCall: (call) => countCall(call, count),
  });
  opened.defer(cloud.stop);
  proxy.reset();
  for (const what of Object.keys(counts)) delete counts[what];
  let begun = 0;
  const worker = async (): Promise<void> => {
    while (begun < busyDay.sessions) {
      begun += 1;
      await workOneSession(cloud, count);
    }
  };
  await Promise.all(Array.from({ length: atOnce }, worker));
  const { readUnits, writeUnits } = proxy.counts();
  return { ...counts, 'table: read units': readUnits, 'table: write units': writeUnits };
};

const countCall = ({ caller, service, authorisations }: RecordedCall, count: Count): void => {
  const [{ action, resource } = { action: '', resource: '' }] = authorisations;
  if (service === 'lambda') count(`${nameOf(String(resource))}, by ${nameOf(caller)}`);
  else if (service === 'ecs') count(action);
  else if (service === 's3' && /Put|Multipart/.test(action)) count('objects written');
};

const nameOf = (name: string): string => name.replace(/^.*sallyport-/, '');

/** Creates it, works in it by a socket as the web app does, reads a file, and ends it. */
const workOneSession = async ({ url, token }: EmbeddedCloud, count: Count): Promise<void> => {
  const ask = async (path: string, method = 'GET', body?: object): Promise<string> => {
    count('requests of the REST API');
    const response = await fetch(`${url}${path}`, {
      method,
      headers: { authorization: `Bearer ${token}` },
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
    });
    const text = await response.text();
    if (!response.ok) throw new Error(`${method} ${path}: ${response.status} ${text}`);
    return text;
  };
  const { id } = JSON.parse(await ask('/api/sessions', 'POST', { flavor: 'micro', approvals: 'auto' })) as {
    readonly id: string;
  };
  const address = `${url.replace('http', 'ws')}/ws?sessionId=${id}`;
  const socket = new WebSocket(address, { headers: { authorization: `Bearer ${token}` } });
  const client = await openClient(socket, count);
  for (let turn = 0; turn < busyDay.turns; turn += 1)
    await client.answered({ action: 'message', text: `$ echo turn ${turn} >> notes` });
  await ask(`/api/sessions/${id}/files/notes`);
  await client.close();
  await ask(`/api/sessions/${id}`, 'DELETE');
};

const openClient = async (socket: WebSocket, count: Count) => {
  count('connections');
  let completions = 0;
  let told: () => void = () => undefined;
  socket.on('message', (data) => {
    const text = String(data);
    count('frames to clients', Math.ceil(text.length / messageBytes));
    if (!text.includes('"type":"completion"')) return;
    completions += 1;
    told();
  });
  await once(socket, 'open');
  return {
    /** Sends a message and waits for the end of its turn. */
    answered: async (message: object): Promise<void> => {
      const wanted = completions + 1;
      count('frames of clients');
      socket.send(JSON.stringify(message));
      const late = AbortSignal.timeout(waitMsMax);
      while (completions < wanted) {
        if (late.aborted) throw new Error(`no completion in ${waitMsMax} ms`);
        await Promise.race([
          new Promise<void>((resolve) => {
            told = resolve;
          }),
          once(late, 'abort'),
        ]);
      }
    },
    close: async (): Promise<void> => {
      socket.close();
      await once(socket, 'close');
    },
  };
};
