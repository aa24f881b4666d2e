/** Failures in the events that schemathesis writes, and which of them are faults. Pure. */

export type Failure = {
  readonly operation: string;
  /** The kind of the failure, as schemathesis names it. */
  readonly type: string;
  readonly status: number;
  readonly message: string;
  readonly request: string;
};

type Event = {
  readonly ScenarioFinished?: { readonly recorder: Recorder };
};
type Recorder = {
  readonly label: string;
  readonly checks: Readonly<Record<string, readonly Check[]>>;
  readonly interactions: Readonly<Record<string, Interaction>>;
};
type Check = {
  readonly failure_info?: { readonly failure: { readonly type: string; readonly message: string } } | null;
};
type Interaction = {
  readonly request: { readonly method: string; readonly uri: string };
  readonly response?: { readonly status_code: number } | null;
};

export const failuresOf = (events: string): readonly Failure[] =>
  events
    .split('\n')
    .filter((line) => line.startsWith('{"ScenarioFinished"'))
    .flatMap((line) => {
      const recorder = (JSON.parse(line) as Event).ScenarioFinished?.recorder;
      return recorder === undefined ? [] : failuresIn(recorder);
    });

const failuresIn = ({ label, checks, interactions }: Recorder): readonly Failure[] =>
  Object.entries(checks).flatMap(([id, found]) =>
    found.flatMap(({ failure_info: info }) => {
      if (info === undefined || info === null) return [];
      const { request, response } = interactions[id] ?? {};
      return [
        {
          operation: label,
          ...{ type: info.failure.type, message: info.failure.message.replaceAll('\n', ', ') },
          status: response?.status_code ?? 0,
          request: `${request?.method} ${request?.uri}`.slice(0, 300),
        },
      ];
    }),
  );

/** Answers that no contract of an operation is about, or that it names among those of 500 and above. */
const expectedBecause = ({ type, status }: Failure): string | undefined => {
  if (type === 'ServerError' && (status === 502 || status === 503))
    return `${status}: the sandbox, or the server on its port, does not answer`;
  if (type === 'UndefinedStatusCode' && status === 431)
    return '431: the HTTP server refuses a request line and headers over 16 KB before any function sees it';
  return undefined;
};

export const faultsOf = (failures: readonly Failure[]) => ({
  faults: failures
    .filter((failure) => expectedBecause(failure) === undefined)
    .map(
      ({ operation, type, status, message, request }) =>
        `${operation}: ${status}, ${type}: ${message}; ${request}`,
    ),
  expected: [...Map.groupBy(failures, expectedBecause)].flatMap(([reason, found]) =>
    reason === undefined ? [] : [`${found.length} × ${reason}`],
  ),
});
