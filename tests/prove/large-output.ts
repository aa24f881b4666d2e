/**
 * A process that prints two gigabytes while one client follows it: every byte is shown or named in a gap, and neither the
 * sandbox's server nor the platform needs more memory for the last part than for the first.
 */
import { rm } from 'node:fs/promises';
import { Sallyport } from '#sdk/sallyport.ts';
import { startServer } from '../e2e/server.ts';
import { type Peaks, type Watched, watchPeaks } from './peak-memory.ts';
import { atMost, exactly, type Proof } from './proof.ts';

const megabyte = 1_048_576;
const totalBytes = 2048 * megabyte;
const parts = 4;
/** The collector of the runtime frees memory in steps of this order. */
const growthMegabytesMax = 64;
const heapMegabytesMax = 1024;

export const largeOutput: Proof = async (progress) => {
  const server = await startServer({ variables: { MSB_DEFAULT_FLAVOR: 'micro' } });
  const sandbox = await new Sallyport(server).sandboxes.create();
  const command = `head -c ${totalBytes} /dev/zero | tr '\\0' x`;
  const process = await sandbox.processes.start(command);
  const look = watchPeaks(server);
  const peaks: Peaks[] = [];
  const measure = async (): Promise<void> => {
    peaks.push(await look());
    progress(`${peaks.length} of ${parts} parts: ${JSON.stringify(peaks.at(-1))} MB`);
  };
  let [shown, leftOut, exitCode, wrong] = [0, 0, -1, 0];
  for await (const event of process.output()) {
    if (event.type === 'output') {
      shown += event.text.length;
      if (/[^x]/.test(event.text)) wrong += 1;
    } else if (event.type === 'gap') leftOut += event.to - event.from;
    else ({ exitCode } = event);
    while (shown + leftOut >= ((peaks.length + 1) * totalBytes) / parts) await measure();
  }
  await sandbox.stop();
  await server.stop();
  await rm(server.home, { recursive: true, force: true });
  const growth = (of: Watched): number => (peaks.at(-1)?.[of] ?? 0) - (peaks[0]?.[of] ?? 0);
  return [
    exactly('bytes shown or named in a gap', shown + leftOut, totalBytes),
    exactly('pieces with other bytes', wrong, 0),
    exactly('exit code', exitCode, 0),
    ...(['platform', "sandbox's server"] as const).flatMap((name) => [
      atMost(`MB more in the last quarter than in the first: ${name}`, growth(name), growthMegabytesMax),
      atMost(`MB at most: ${name}`, Math.max(...peaks.map((peak) => peak[name])), heapMegabytesMax),
    ]),
    { what: 'bytes shown', counted: shown, wanted: 'any', isMet: shown > 0 },
  ];
};
