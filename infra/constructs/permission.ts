/**
 * A permission: the variables that name something, and the IAM statements to use it, never one without the other.
 *
 * The permissions of a function must add up to its environment contract, or it does not compile. So a variable cannot
 * be given while its statement is forgotten, nor remain after its use has ended.
 */
import { ArnFormat, type Stack } from 'aws-cdk-lib';
import { Effect, type PolicyStatementProps } from 'aws-cdk-lib/aws-iam';

/** An IAM statement; one with a wildcard carries the reason for it. */
export type Statement = PolicyStatementProps & { readonly because?: string };

export type Permission<V extends object> = {
  readonly variables: V;
  readonly statements: readonly Statement[];
};

/** The name and ARN of a function; of one that is not created yet, too. */
export type FunctionTarget = { readonly functionName: string; readonly functionArn: string };

/** Of a function with a name of its own: a generated one is not known before it is made, nor to the function itself. */
export const functionNamed = (stack: Stack, functionName: string): FunctionTarget => {
  const functionArn = stack.formatArn({
    service: 'lambda',
    resource: 'function',
    resourceName: functionName,
    arnFormat: ArnFormat.COLON_RESOURCE_NAME,
  });
  return { functionName, functionArn };
};

type Combined<N extends readonly Permission<object>[]> = {
  [I in keyof N]: N[I] extends Permission<infer V> ? (variables: V) => void : never;
}[number] extends (variables: infer A) => void
  ? A & object
  : never;

/** Several permissions as one. */
export const combine = <const N extends readonly Permission<object>[]>(
  ...permissions: N
): Permission<Combined<N>> => ({
  variables: Object.assign({}, ...permissions.map(({ variables }) => variables)) as Combined<N>,
  statements: permissions.flatMap(({ statements }) => statements),
});

/** Variables alone: they give access to nothing. */
export const env = <V extends object>(variables: V): Permission<V> => ({ variables, statements: [] });

/** Statements alone: their object needs no variable. */
export const permit = (...statements: readonly Statement[]): Permission<object> => ({
  variables: {},
  statements,
});

/** To invoke one function, whole or streamed (https://docs.aws.amazon.com/lambda/latest/api/API_InvokeWithResponseStream.html). */
export const invoke = <K extends string>(
  variable: K,
  { functionName, functionArn }: FunctionTarget,
): Permission<Readonly<Record<K, string>>> => ({
  variables: { [variable]: functionName } as Record<K, string>,
  statements: [{ actions: ['lambda:InvokeFunction'], resources: [functionArn] }],
});

/** To read one secret, named by its ARN. */
export const readSecret = <K extends string>(
  variable: K,
  secretArn: string,
): Permission<Readonly<Record<K, string>>> => ({
  variables: { [variable]: secretArn } as Record<K, string>,
  statements: [{ actions: ['secretsmanager:GetSecretValue'], resources: [secretArn] }],
});

const interfaceActions = [
  'ec2:AssignPrivateIpAddresses',
  'ec2:CreateNetworkInterface',
  'ec2:DeleteNetworkInterface',
  'ec2:DescribeNetworkInterfaces',
  'ec2:DescribeSubnets',
  'ec2:UnassignPrivateIpAddresses',
];

/**
 * To run in a VPC: Lambda creates the network interfaces with the function's role, and the function's code may not
 * (https://docs.aws.amazon.com/lambda/latest/dg/configuration-vpc.html#configuration-vpc-permissions).
 */
export const joinVpc: Permission<object> = permit(
  {
    actions: interfaceActions,
    resources: ['*'],
    because:
      'EC2 has no resource for interfaces before they are created; the code itself is denied all of it.',
  },
  {
    effect: Effect.DENY,
    actions: interfaceActions,
    resources: ['*'],
    conditions: { Null: { 'lambda:SourceFunctionArn': 'false' } },
  },
);
