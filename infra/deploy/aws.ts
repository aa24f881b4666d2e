/**
 * AWS as the `aws` program reaches it, with the credentials, profiles and single sign-on that a person has there already.
 *
 * An answer is JSON; a refusal is an error with the code that the service gave.
 */
import { Failure } from './failure.ts';
import type { Programs } from './programs.ts';

export type Aws = {
  /** The parsed answer; undefined where the service says nothing. Lists come whole: the program turns the pages. */
  readonly ask: <T>(...words: readonly string[]) => Promise<T>;
  /** As `ask`; undefined instead of a refusal of one of these codes. */
  readonly find: <T>(codes: readonly string[], ...words: readonly string[]) => Promise<T | undefined>;
  readonly region: string;
  /** The same in another region. */
  readonly in: (region: string) => Aws;
};

class AwsRefusal extends Failure {
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
    if (code !== 0) throw refusalOf(`aws ${words.slice(0, 2).join(' ')}`, error);
    return (out.trim() === '' ? undefined : JSON.parse(out)) as T;
  };
  return {
    ask,
    find: async (codes, ...words) => {
      try {
        return await ask(...words);
      } catch (error) {
        if (error instanceof AwsRefusal && codes.includes(error.code)) return undefined;
        throw error;
      }
    },
    region,
    in: (other) => openAws(programs, other),
  };
};

/** `An error occurred (AccessDenied) when calling the …: …` is how the program words every refusal. */
const refusalOf = (call: string, text: string): AwsRefusal => {
  const [, code = '', message = ''] =
    /An error occurred \(([^)]+)\) when calling [^:]+: ([^\n]*)/.exec(text) ?? [];
  return code === ''
    ? new AwsRefusal(call, /credential|token|sso/i.test(text) ? 'NoCredentials' : 'unknown', text.trim())
    : new AwsRefusal(call, code, `${code}: ${message}`);
};

const signIn = 'Sign in: aws configure sso, or set AWS_PROFILE; aws sts get-caller-identity must answer.';

const nextFor = (code: string): readonly string[] => {
  if (/NoCredentials|ExpiredToken|InvalidClientTokenId|UnrecognizedClient/.test(code)) return [signIn];
  if (/AccessDenied|Unauthorized/.test(code))
    return ['Ask whoever runs the account for that right, or use another profile.'];
  if (/Throttl|TooManyRequests|RequestLimitExceeded/.test(code))
    return ['Wait a minute and run it again: it goes on where it was.'];
  return [];
};
