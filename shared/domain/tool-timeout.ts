/** The timeout of a tool's call under the limit of the deployment. */
import { executionSecondsMax, toolTimeoutSeconds } from './limits.ts';

export type ToolTimeout =
  | { readonly seconds: number; readonly problem?: undefined }
  | { readonly problem: string };

/** More than the deployment allows, or than any tool may take, is refused; the default gives way to a lower limit. */
export const toolTimeout = (asked: number, allowedSeconds: number): ToolTimeout => {
  const secondsMax = Math.min(allowedSeconds, executionSecondsMax);
  return asked > secondsMax && asked !== toolTimeoutSeconds
    ? { problem: `timeout: at most ${secondsMax} seconds in this deployment` }
    : { seconds: Math.min(asked, secondsMax) };
};
