/** Readers of one process whose connections break again and again, under load that only readers who come back in time can follow. */
import { Sallyport } from '#sdk/sallyport.ts';
import type { Server } from './server.ts';

/** About 2.5 bytes each. */
const blockCharacters = 3200;

export type CutReading = {
  readonly readers: number;
  /** Of each reader's connections. */
  readonly cuts: number;
  /** Of 8 KB. Of more than 125 the oldest are no longer kept at the end. */
  readonly blocks: number;
};

export type CutReader = { readonly cutsLeft: number; readonly gaps: number; readonly isWhole: boolean };

/** The whole output as each of them got it. */
export const readThroughCuts = async (
  server: Pick<Server, 'url' | 'token'>,
  wanted: CutReading,
): Promise<readonly CutReader[]> => {
  const sandbox = await new Sallyport(server).sandboxes.create();
  const process = await sandbox.processes.start('python3', { args: ['-u', '-c', program] });
  const readers = Array.from({ length: wanted.readers }, (_, place) => {
    const network = openNetwork(wanted.cuts, place + 7);
    const remote = new Sallyport({ ...server, fetch: network.cutFetch });
    return { network, remote, text: '', gaps: 0, wake: (): void => undefined };
  });
  const reading = readers.map(async (reader) => {
    const followed = (await reader.remote.sandboxes.get(sandbox.id)).processes.get(process.processId);
    for await (const event of followed.output()) {
      if (event.type === 'gap') reader.gaps += 1;
      reader.text += event.text;
      reader.wake();
    }
  });
  const shows = (reader: (typeof readers)[number], mark: string): Promise<void> =>
    new Promise((resolve) => {
      reader.wake = () => {
        if (reader.text.endsWith(mark)) resolve();
      };
      reader.wake();
    });
  // The next block comes when all have the last one: a reader is never so far behind that something is gone.
  for (let number = 1; number <= wanted.blocks; number += 1) {
    await process.write(`${number}\n`, { isLast: number === wanted.blocks });
    await Promise.all(readers.map((reader) => shows(reader, `block ${number}\n`)));
  }
  await Promise.all(reading);
  const whole = Array.from({ length: wanted.blocks }, (_, place) => blockOf(place + 1)).join('');
  return readers.map(({ network, text, gaps }) => ({
    ...{ gaps, cutsLeft: network.cutsLeft(), isWhole: text === whole },
  }));
};

/** A network that loses each connection to an output after some bytes, until it has lost so many. */
const openNetwork = (cuts: number, seed: number) => {
  let left = cuts;
  let state = seed;
  const nextBytes = (): number => {
    state = (state * 48_271) % 2_147_483_647;
    return 3 * blockCharacters + (state % (8 * blockCharacters));
  };
  const cutFetch: typeof fetch = async (url, init = {}) => {
    if (!String(url).includes('/output') || left === 0) return fetch(url, init);
    const cut = new AbortController();
    const signals = [cut.signal, ...(init.signal ? [init.signal] : [])];
    const response = await fetch(url, { ...init, signal: AbortSignal.any(signals) });
    let bytes = nextBytes();
    const counted = new TransformStream<Uint8Array, Uint8Array>({
      transform: (chunk, controller) => {
        controller.enqueue(chunk.subarray(0, bytes));
        bytes -= chunk.length;
        if (bytes > 0) return;
        left -= 1;
        cut.abort();
        controller.error(new TypeError('terminated'));
      },
    });
    return new Response(response.body?.pipeThrough(counted), response);
  };
  return { cutFetch, cutsLeft: () => left };
};

/** Characters of one to four bytes, so that connections break inside of them. */
const blockOf = (number: number): string => {
  const characters = [...`${number} ä€😀 `.repeat(blockCharacters)].slice(0, blockCharacters);
  return `${characters.join('')}\nblock ${number}\n`;
};

const program = `
import sys
for line in sys.stdin:
    number = int(line)
    text = (f"{number} ä€😀 " * ${blockCharacters})[: ${blockCharacters}] + f"\\nblock {number}\\n"
    sys.stdout.write(text)
    sys.stdout.flush()
`;
