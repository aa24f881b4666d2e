/** Where to: the stage, the account and the region, as flags, variables and the `aws` program say. */
import { type Settings, settingsOf } from '../settings.ts';
import { type Aws, openAws } from './aws.ts';
import { Failure } from './failure.ts';
import type { Programs } from './programs.ts';

export type Target = {
  readonly stage: string;
  readonly settings: Settings;
  readonly account: string;
  readonly region: string;
  readonly aws: Aws;
};

export type TargetWish = {
  readonly stage: string;
  readonly region?: string | undefined;
  readonly variables: Readonly<Record<string, string | undefined>>;
};

export const findTarget = async (
  programs: Programs,
  { stage, region, variables }: TargetWish,
): Promise<Target> => {
  const settings = stageSettings(stage);
  const chosen =
    region ?? (variables['AWS_REGION'] || variables['AWS_DEFAULT_REGION']) ?? (await configured(programs));
  if (!chosen) throw new Failure('no region is chosen', ['Say which: --region eu-central-1, or AWS_REGION.']);
  const aws = openAws(programs, chosen);
  const { Account } = await aws.ask<{ readonly Account: string }>('sts', 'get-caller-identity');
  return { stage, settings, account: Account, region: chosen, aws };
};

const stageSettings = (stage: string): Settings => {
  try {
    return settingsOf(stage);
  } catch (cause) {
    throw new Failure(
      cause instanceof Error ? cause.message : String(cause),
      ['Stages are in infra/settings.ts.'],
      cause,
    );
  }
};

/** Exit code 1 and nothing printed is a profile without a region. */
const configured = async (programs: Programs): Promise<string> =>
  (await programs.quiet('aws', ['configure', 'get', 'region'])).out.trim();
