/**
 * A program that uses all of the client library, in any runtime: it names no API of Node or of a browser.
 *
 * It is given the library and a deployment, and returns what it received, which is the same everywhere.
 */
import type * as Library from '#sdk/main.ts';

/** Empty: that of the environment's variables. */
export type Deployment = { readonly url?: string; readonly token?: string };

export const runScenario = async ({ Sallyport, SallyportError }: typeof Library, deployment: Deployment) => {
  const lineCount = 120;
  const count = `for n in $(seq ${lineCount}); do echo "line $n: ä€😀"; sleep 0.01; done`;
  const sallyport = new Sallyport(deployment);
  const sandbox = await sallyport.sandboxes.create({ template: 'python', env: { GIVEN: 'yes' } });
  let live = '';
  const counted = await sandbox.exec(`${count}; echo "$GIVEN" >&2; exit 3`, {
    onStdout: (text) => {
      live += text;
    },
  });
  const { results } = await sandbox.code('6 * 7');

  const bytes = Uint8Array.from({ length: 70_000 }, (_, index) => (index * 7) % 251);
  await sandbox.files.write('notes/ä.txt', 'häh');
  await sandbox.files.write('bytes.bin', bytes);
  const text = await sandbox.files.read('notes/ä.txt');
  const read = await sandbox.files.read('bytes.bin', { format: 'bytes' });
  const missing: unknown = await sandbox.files.read('missing').catch((error) => error);

  const server = await sandbox.processes.start(`${count}; sleep 600`);
  const offsets: number[] = [];
  let output = '';
  for await (const event of server.output()) {
    if (event.type === 'output') offsets.push(event.offset);
    output += event.text;
    if (output.includes(`line ${lineCount}:`)) break;
  }
  await server.kill();
  const echo = await sandbox.processes.start('cat');
  await echo.write('through stdin', { isLast: true });
  let echoed = '';
  for await (const { text } of echo.output()) echoed += text;

  const session = await sallyport.sessions.create({ approvals: 'auto' });
  const types: string[] = [];
  for await (const event of session.send(`$ ${count}`)) types.push(event.type);
  await session.stop();
  await sandbox.stop();
  const left = await sallyport.sandboxes.list();

  const lines = Array.from({ length: lineCount }, (_, index) => `line ${index + 1}: ä€😀\n`).join('');
  return {
    exec: { exitCode: counted.exitCode, stderr: counted.stderr, isWhole: counted.stdout === lines },
    live: live === lines,
    results,
    files: {
      text,
      isSame: read.length === bytes.length && read.every((byte, index) => byte === bytes[index]),
      missing: missing instanceof SallyportError && missing.code,
    },
    process: {
      isWhole: output === lines,
      inOrder: offsets.every((offset, index) => index === 0 || offset > (offsets[index - 1] ?? 0)),
      echoed,
    },
    events: {
      first: types[0],
      last: types.at(-1),
      completions: types.filter((type) => type === 'completion').length,
    },
    isStopped: left.every(({ id }) => id !== sandbox.id),
  };
};

export const expected: Awaited<ReturnType<typeof runScenario>> = {
  exec: { exitCode: 3, stderr: 'yes\n', isWhole: true },
  live: true,
  results: [{ 'text/plain': '42' }],
  files: { text: 'häh', isSame: true, missing: 'file_not_found' },
  process: { isWhole: true, inOrder: true, echoed: 'through stdin' },
  events: { first: 'message', last: 'completion', completions: 1 },
  isStopped: true,
};
