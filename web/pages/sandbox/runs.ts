/** Runs of a run box, the newest first: each goes from running to its end once, and its output grows in between. */
import { computed, shallowRef } from 'vue';
import type { CodeResult, ExecResult } from '#sdk/routes.ts';
import { runCode, runCommand } from '#sdk/run-command.ts';
import { clientOf, inOurWords } from '../../api/request.ts';
import { type Shown, shownBundle } from '../../components/shown-results.ts';

export type Run = {
  readonly number: number;
  readonly kind: 'command' | 'code';
  readonly text: string;
  readonly state: 'running' | 'done' | 'failed' | 'stopped';
  readonly chunks: readonly { readonly stream: 'stdout' | 'stderr'; readonly text: string }[];
  /** Of code: what it displayed and its value. */
  readonly results: readonly Shown[];
  readonly exitCode?: number;
  readonly durationMs?: number;
  readonly notices: readonly string[];
  /** No result came. */
  readonly error?: unknown;
};

export const runKinds = [
  { value: 'command', label: 'Command' },
  { value: 'code', label: 'Code' },
] as const;

/** Runs that stay on the page. */
const runsMax = 20;

export const newRun = (number: number, kind: Run['kind'], text: string): Run => ({
  ...{ number, kind, text, state: 'running', chunks: [], results: [], notices: [] },
});

/** Text of the stream of the last chunk is added to it. */
export const withOutput = (run: Run, stream: 'stdout' | 'stderr', text: string): Run => {
  const last = run.chunks.at(-1);
  if (text === '') return run;
  if (last?.stream !== stream) return { ...run, chunks: [...run.chunks, { stream, text }] };
  return { ...run, chunks: [...run.chunks.slice(0, -1), { stream, text: last.text + text }] };
};

/** A result has the output of code, which does not come while it runs. */
export const withResult = (run: Run, result: ExecResult | CodeResult): Run => {
  const { exitCode, durationMs, notices = [] } = result;
  const said = run.kind === 'code' ? codeOutput(run, result) : run;
  return { ...said, state: exitCode === 0 ? 'done' : 'failed', exitCode, durationMs, notices };
};

const codeOutput = (run: Run, { stdout, stderr, error, ...result }: ExecResult | CodeResult): Run => {
  const printed = withOutput(withOutput(run, 'stdout', stdout), 'stderr', stderr);
  const said =
    stderr === '' && error !== undefined ? withOutput(printed, 'stderr', `${error.message}\n`) : printed;
  return { ...said, results: 'results' in result ? result.results.flatMap(shownBundle) : [] };
};

export const withFailure = (run: Run, error: unknown, isStopped: boolean): Run =>
  isStopped ? { ...run, state: 'stopped' } : { ...run, state: 'failed', error };

export const runLabel = ({ state, exitCode }: Run): string => {
  if (state === 'running') return 'running';
  if (state === 'stopped') return 'stopped';
  return exitCode === undefined ? 'failed' : `exit code ${exitCode}`;
};

export const useRuns = (sessionId: string) => {
  const runs = shallowRef<readonly Run[]>([]);
  let control = new AbortController();
  let made = 0;
  const change = (number: number, next: (run: Run) => Run): void => {
    runs.value = runs.value.map((run) => (run.number === number ? next(run) : run));
  };
  const ask = (kind: Run['kind'], text: string, number: number): Promise<ExecResult | CodeResult> => {
    const { signal } = control;
    if (kind === 'code') return runCode(clientOf(), sessionId, { code: text, signal });
    const print = (stream: 'stdout' | 'stderr') => (said: string) =>
      change(number, (run) => withOutput(run, stream, said));
    const listeners = { onStdout: print('stdout'), onStderr: print('stderr') };
    return runCommand(clientOf(), sessionId, { command: text, ...listeners, signal });
  };
  const start = async (kind: Run['kind'], text: string): Promise<void> => {
    control = new AbortController();
    const { signal } = control;
    made += 1;
    const number = made;
    runs.value = [newRun(number, kind, text), ...runs.value].slice(0, runsMax);
    try {
      const result = await ask(kind, text, number).catch(inOurWords);
      change(number, (run) => withResult(run, result));
    } catch (error) {
      change(number, (run) => withFailure(run, error, signal.aborted));
    }
  };
  return {
    runs,
    isBusy: computed(() => runs.value.some(({ state }) => state === 'running')),
    start,
    stop: () => control.abort(),
  };
};
