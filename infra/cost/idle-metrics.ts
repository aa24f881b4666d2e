/**
 * The metrics of our own that have a value in every hour in which nobody works, and so are paid for by the month. A
 * test compares them with what sweeps and checks emit (`tests/e2e/idle-metrics.test.ts`).
 */

export const ofSweeps: readonly string[] = ['SandboxesRunning', 'SweepDue'];

/** What the synthetic check measures, and what its turns and its sandbox leave behind. */
export const ofChecks: readonly string[] = [
  'FirstDeltaMs',
  'SandboxColdStartMs',
  'SyntheticSandboxMs',
  'SyntheticTurnMs',
  'ToolCallMs',
  'TurnDurationMs',
  'TurnsStarted',
  'WorkspaceSaveMs',
];
