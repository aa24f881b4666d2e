/**
 * A need: the variables that name something, and the permission to use it, never one without the other.
 *
 * A function's needs must add up to its environment contract, or it does not compile. So a variable can not
 * be handed out while its permission is forgotten, nor stay behind when its use is gone.
 */
import { Effect, type PolicyStatementProps } from 'aws-cdk-lib/aws-iam';

/** A permission; one that names more than single things says why. */
export type Right = PolicyStatementProps & { readonly because?: string };

export type Need<V extends object> = {
  readonly variables: V;
  readonly statements: readonly Right[];
};

type All<N extends readonly Need<object>[]> = {
  [I in keyof N]: N[I] extends Need<infer V> ? (variables: V) => void : never;
}[number] extends (variables: infer A) => void
  ? A & object
  : never;

/** Several needs as one. */
export const all = <const N extends readonly Need<object>[]>(...needs: N): Need<All<N>> => ({
  variables: Object.assign({}, ...needs.map(({ variables }) => variables)) as All<N>,
  statements: needs.flatMap(({ statements }) => statements),
});

/** Settings: variables that give access to nothing. */
export const knowing = <V extends object>(variables: V): Need<V> => ({ variables, statements: [] });

/** A permission whose object is named by nothing but itself. */
export const may = (...statements: readonly Right[]): Need<object> => ({
  variables: {},
  statements,
});

/** To invoke one function, whole or streamed (https://docs.aws.amazon.com/lambda/latest/api/API_InvokeWithResponseStream.html). */
export const invoking = <K extends string>(
  variable: K,
  target: { readonly functionName: string; readonly functionArn: string },
): Need<Readonly<Record<K, string>>> => ({
  variables: { [variable]: target.functionName } as Record<K, string>,
  statements: [{ actions: ['lambda:InvokeFunction'], resources: [target.functionArn] }],
});

/** To read one secret, named by its ARN. */
export const reading = <K extends string>(
  variable: K,
  secretArn: string,
): Need<Readonly<Record<K, string>>> => ({
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
 * To be placed in a VPC: Lambda makes the network interfaces in the function's name, and its code may not
 * (https://docs.aws.amazon.com/lambda/latest/dg/configuration-vpc.html#configuration-vpc-permissions).
 */
export const beingInVpc: Need<object> = may(
  {
    actions: interfaceActions,
    resources: ['*'],
    because:
      'EC2 knows no resource for interfaces that are yet to be made; the code itself is denied all of it.',
  },
  {
    effect: Effect.DENY,
    actions: interfaceActions,
    resources: ['*'],
    conditions: { Null: { 'lambda:SourceFunctionArn': 'false' } },
  },
);
