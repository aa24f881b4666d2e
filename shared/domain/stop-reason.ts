/** The reason of a stopped task in one line: what killed its container, with which exit code, and ECS's own reason. */
export const stopReason = ({
  reason,
  exitCode,
  stoppedReason,
}: {
  readonly reason?: string | undefined;
  readonly exitCode?: number | undefined;
  readonly stoppedReason?: string | undefined;
}): string =>
  [reason, exitCode === undefined ? undefined : `exit code ${exitCode}`, stoppedReason]
    .filter((part) => part !== undefined && part !== '')
    .join('; ');
