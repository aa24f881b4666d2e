/**
 * The size of a function's variables, before anything is deployed: Lambda takes 4 KB of them, and CloudFormation would find out in the
 * middle of a deploy.
 *
 * Lambda measures names and values together as the text of one JSON object, in which a quote within a value has a backslash
 * (https://docs.aws.amazon.com/lambda/latest/dg/gettingstarted-limits.html). Names and ARNs that CloudFormation makes are not known here.
 */
import { Tokenization } from 'aws-cdk-lib';
import type { FunctionName } from '#shared/config/environment.ts';

const environmentBytesMax = 4096;
/** In the place of each of them. On average they are shorter: a subnet has 24 bytes, a function's name up to 64, an ARN some 110. */
const reference = 'r'.repeat(80);

/** Throws with the longest variables, by which an operator shortens them. */
export const checkEnvironmentSize = (
  name: FunctionName,
  variables: Readonly<Record<string, string>>,
): void => {
  const sizes = Object.entries(variables).map(([key, value]) => [key, entryBytes(key, value)] as const);
  const bytes = sizes.reduce((sum, [, size]) => sum + size, 0);
  if (bytes <= environmentBytesMax) return;
  const longest = sizes
    .toSorted(([, one], [, other]) => other - one)
    .slice(0, 3)
    .map(([key, size]) => `${key} ${size}`);
  throw new Error(
    `infra/settings.ts: the variables of ${name} come to ${bytes} bytes, and Lambda takes ${environmentBytesMax} in all; the longest: ${longest.join(', ')}`,
  );
};

/** `"key":"value",` */
const entryBytes = (key: string, value: string): number =>
  Buffer.byteLength(`${JSON.stringify(key)}:${JSON.stringify(knownText(value))},`);

const knownText = (value: string): string =>
  Tokenization.reverseString(value)
    .mapTokens({ mapToken: () => reference })
    .join({ join: (left, right) => `${left ?? ''}${right ?? ''}` });
