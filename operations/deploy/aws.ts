/**
 * AWS through the `aws` program, with the credentials, profiles and single sign-on of the person who runs it, and the
 * stacks of a deployment as CloudFormation describes them.
 *
 * An answer is JSON; a refusal is an error with the service's code.
 */
import { Failure, type Programs } from './programs.ts';

export type Aws = {
  /** The parsed answer; undefined for an empty one. Lists are complete: the program reads all pages. */
  readonly ask: <T>(...words: readonly string[]) => Promise<T>;
  /** As `ask`; undefined instead of an error with one of these codes. */
  readonly find: <T>(codes: readonly string[], ...words: readonly string[]) => Promise<T | undefined>;
  /** As `find`, for calls whose answer may be empty. */
  readonly read: (
    codes: readonly string[],
    ...words: readonly string[]
  ) => Promise<{ readonly answer: unknown } | undefined>;
  readonly region: string;
  /** The same client for another region. */
  readonly in: (region: string) => Aws;
};

class AwsError extends Failure {
  readonly code: string;

  constructor(call: string, code: string, text: string) {
    super(`${call}: ${text}`, nextFor(code));
    this.code = code;
  }
}

export const openAws = (programs: Programs, region: string): Aws => {
  const ask = async <T>(...words: readonly string[]): Promise<T> => {
    const { code, out, error } = await programs.quiet('aws', [
      ...words,
      '--region',
      region,
      '--output',
      'json',
    ]);
    if (code !== 0) throw errorOf(`aws ${words.slice(0, 2).join(' ')}`, error);
    return (out.trim() === '' ? undefined : JSON.parse(out)) as T;
  };
  const read: Aws['read'] = async (codes, ...words) => {
    try {
      return { answer: await ask(...words) };
    } catch (error) {
      if (error instanceof AwsError && codes.includes(error.code)) return undefined;
      throw error;
    }
  };
  return {
    ask,
    read,
    find: async <T>(codes: readonly string[], ...words: readonly string[]) =>
      (await read(codes, ...words))?.answer as T | undefined,
    region,
    in: (other) => openAws(programs, other),
  };
};

/** `An error occurred (AccessDenied) when calling the …: …` is the text of every error of the program. */
const errorOf = (call: string, text: string): AwsError => {
  const [, code = '', message = ''] =
    /An error occurred \(([^)]+)\) when calling [^:]+: ([^\n]*)/.exec(text) ?? [];
  return code === ''
    ? new AwsError(call, /credential|token|sso/i.test(text) ? 'NoCredentials' : 'unknown', text.trim())
    : new AwsError(call, code, `${code}: ${message}`);
};

const signIn = 'Sign in: aws configure sso, or set AWS_PROFILE; aws sts get-caller-identity must answer.';

const nextFor = (code: string): readonly string[] => {
  if (/NoCredentials|ExpiredToken|InvalidClientTokenId|UnrecognizedClient/.test(code)) return [signIn];
  if (/AccessDenied|Unauthorized/.test(code))
    return ['Ask the administrator of the account for that permission, or use another profile.'];
  if (/Throttl|TooManyRequests|RequestLimitExceeded/.test(code))
    return ['Wait a minute and run it again: it continues where it stopped.'];
  return [];
};

type Stack = {
  readonly name: string;
  readonly status: string;
  /** Epoch milliseconds. */
  readonly createdAt?: number;
  /** By the last detection that was run. */
  readonly drift?: string;
  readonly outputs: Readonly<Record<string, string>>;
  readonly parameters: Readonly<Record<string, string>>;
};

export type Held = { readonly id: string; readonly type: string; readonly physicalId: string };

type Described = {
  readonly Stacks: readonly {
    readonly StackName: string;
    readonly StackStatus: string;
    readonly CreationTime?: string;
    readonly DriftInformation?: { readonly StackDriftStatus: string };
    readonly Parameters?: readonly { readonly ParameterKey: string; readonly ParameterValue?: string }[];
    readonly Outputs?: readonly { readonly OutputKey: string; readonly OutputValue: string }[];
  }[];
};
type Listed = {
  readonly StackResourceSummaries: readonly {
    readonly LogicalResourceId: string;
    readonly PhysicalResourceId?: string;
    readonly ResourceType: string;
  }[];
};

/** In the order of their creation; they are deleted in reverse. */
export const stackNames = ['data', 'network', 'compute', 'edge', 'observability'] as const;

/** Undefined for a missing stack, which CloudFormation reports as a validation error. */
export const findStack = async (aws: Aws, name: string): Promise<Stack | undefined> => {
  const found = await aws.find<Described>(
    ['ValidationError'],
    'cloudformation',
    'describe-stacks',
    '--stack-name',
    name,
  );
  const [stack] = found?.Stacks ?? [];
  return (
    stack && {
      name: stack.StackName,
      status: stack.StackStatus,
      ...(stack.CreationTime !== undefined && { createdAt: Date.parse(stack.CreationTime) }),
      ...(stack.DriftInformation && { drift: stack.DriftInformation.StackDriftStatus }),
      outputs: Object.fromEntries(
        (stack.Outputs ?? []).map(({ OutputKey, OutputValue }) => [OutputKey, OutputValue]),
      ),
      parameters: Object.fromEntries(
        (stack.Parameters ?? []).map(({ ParameterKey, ParameterValue = '' }) => [
          ParameterKey,
          ParameterValue,
        ]),
      ),
    }
  );
};

/** Statuses of a stack that the CDK deletes before it creates another: it keeps no parameter. */
const neverCreated = /^(?:REVIEW_IN_PROGRESS|CREATE_FAILED|ROLLBACK_.*|DELETE_.*)$/;

/** Undefined for a stack that was never complete, too. */
export const findStanding = async (aws: Aws, name: string): Promise<Stack | undefined> => {
  const stack = await findStack(aws, name);
  return stack === undefined || neverCreated.test(stack.status) ? undefined : stack;
};

export const resourcesOf = async (aws: Aws, stack: string): Promise<readonly Held[]> => {
  const args = ['list-stack-resources', '--stack-name', stack] as const;
  const { StackResourceSummaries } = await aws.ask<Listed>('cloudformation', ...args);
  return StackResourceSummaries.flatMap(
    ({ LogicalResourceId: id, PhysicalResourceId: physicalId, ResourceType: type }) =>
      physicalId === undefined ? [] : [{ id, type, physicalId }],
  );
};
