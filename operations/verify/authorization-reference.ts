/**
 * Statements of policies against the Service Authorization Reference: each action exists, knows each condition key of its statement,
 * and takes one of its resources. Pure.
 */

export type Statement = {
  readonly Effect: 'Allow' | 'Deny';
  readonly Action: string | readonly string[];
  /** As text; absent in a trust policy. */
  readonly Resource?: string | readonly string[];
  readonly Condition?: Readonly<Record<string, Readonly<Record<string, unknown>>>>;
};

export type Action = {
  readonly name: string;
  readonly conditionKeys: readonly string[];
  readonly resourceTypes: readonly { readonly name: string; readonly conditionKeys: readonly string[] }[];
};
type ResourceType = { readonly arn: string; readonly conditionKeys?: readonly string[] };

export type Service = {
  readonly actions: readonly Action[];
  readonly resourceTypes: Readonly<Record<string, ResourceType>>;
};

export type Reference = {
  readonly service: (prefix: string) => Service | undefined;
  /** Those of every service: `aws:…`. */
  readonly globalKeys: readonly string[];
};

/** Keys that a guide documents for actions of another service, which the reference does not list. */
const documentedElsewhere: Readonly<Record<string, string>> = {
  // https://docs.aws.amazon.com/lambda/latest/dg/configuration-vpc.html, "Deny function code access"
  'lambda:SourceFunctionArn': 'ec2',
  // https://docs.aws.amazon.com/AmazonCloudWatch/latest/logs/encrypt-log-data-kms.html grants `kms:Describe*` under this key
  'kms:EncryptionContext:aws:logs:arn': 'kms',
};

export const faultsOfStatement = (statement: Statement, reference: Reference): readonly string[] => {
  const names = [statement.Action].flat();
  const found = names.map((name) => ({ name, known: actionsNamed(name, reference) }));
  const unknown = found.filter(({ known }) => known.length === 0);
  const known = found.flatMap((one) => one.known);
  return [
    ...unknown.map(({ name }) => `there is no action ${name}`),
    ...found.flatMap(({ name, known: each }) => faultsOfKeys({ name, known: each }, statement, reference)),
    ...faultsOfResources(known, statement),
  ];
};

type KnownAction = Action & { readonly service: Service; readonly prefix: string };

/** All that a name with wildcards stands for. */
const actionsNamed = (name: string, { service: serviceOf }: Reference): readonly KnownAction[] => {
  const [prefix = '', pattern = ''] = name.split(':');
  const service = serviceOf(prefix);
  if (service === undefined) return [];
  const words = pattern.split('*').map(RegExp.escape).join('.*');
  const wanted = new RegExp(`^${words}$`, 'i');
  return service.actions
    .filter((action) => wanted.test(action.name))
    .map((action) => ({ ...action, service, prefix }));
};

type Named = { readonly name: string; readonly known: readonly KnownAction[] };

/** A key that no request of an action has is decoration, or a statement that never applies. */
const faultsOfKeys = (
  { name, known }: Named,
  { Condition = {} }: Statement,
  { globalKeys }: Reference,
): readonly string[] => {
  if (known.length === 0) return [];
  const keys = Object.values(Condition).flatMap((one) => Object.keys(one));
  return keys
    .filter((key) => !isKey(key, globalKeys))
    .filter((key) => documentedElsewhere[key] !== known[0]?.prefix)
    .filter((key) => !known.some((action) => isKey(key, keysOf(action))))
    .map((key) => `${name} has no condition key ${key}`);
};

const keysOf = ({ conditionKeys, resourceTypes, service }: KnownAction): readonly string[] => [
  ...conditionKeys,
  ...resourceTypes.flatMap((type) => [
    ...type.conditionKeys,
    ...(service.resourceTypes[type.name.toLowerCase()]?.conditionKeys ?? []),
  ]),
];

/** Names differ in case; a known one may end with a placeholder. */
const isKey = (key: string, known: readonly string[]): boolean =>
  known.some((one) => {
    const [start = '', ...open] = one.toLowerCase().split(/\$\{|tag-key$/);
    return open.length === 0 ? start === key.toLowerCase() : key.toLowerCase().startsWith(start);
  });

const faultsOfResources = (known: readonly KnownAction[], statement: Statement): readonly string[] => {
  const resources = [statement.Resource ?? '*'].flat();
  if (resources.includes('*')) return [];
  const useless = resources.filter((arn) => !known.some((action) => takes(action, arn)));
  const without =
    statement.Effect === 'Allow'
      ? known.filter((action) => !resources.some((arn) => takes(action, arn)))
      : [];
  return [
    ...useless.map((arn) => `none of its actions takes ${arn}`),
    ...without.map(({ prefix, name }) => `${prefix}:${name} takes none of ${resources.join(', ')}`),
  ];
};

const takes = ({ resourceTypes, service }: KnownAction, arn: string): boolean =>
  resourceTypes.some(({ name }) => {
    const type = service.resourceTypes[name.toLowerCase()];
    return type !== undefined && meet(patternOf(type.arn), wildcardsOf(arn));
  });

/** A character, or a run of any: of one part of a name, or across parts. */
type Token = string | typeof inPart | typeof across;
const inPart = Symbol('characters without a slash or a colon');
const across = Symbol('characters');

const patternOf = (arn: string): readonly Token[] =>
  arn.split(/(\$\{\w+\})/).flatMap((piece): readonly Token[] => {
    if (!piece.startsWith('${')) return [...piece];
    return [/^\$\{(?:Partition|Region|Account|BucketName|TableName)\}$/.test(piece) ? inPart : across];
  });

const wildcardsOf = (arn: string): readonly Token[] => [...arn].map((one) => (one === '*' ? across : one));

/** Is there a name that both describe? */
const meet = (one: readonly Token[], other: readonly Token[]): boolean => {
  const [first, ...rest] = one;
  const [second, ...left] = other;
  if (first === undefined && second === undefined) return true;
  if (typeof first === 'symbol') return meet(rest, other) || (holds(first, second) && meet(one, left));
  if (typeof second === 'symbol') return meet(one, left) || (holds(second, first) && meet(rest, other));
  return first === second && first !== undefined && meet(rest, left);
};

const holds = (run: symbol, token: Token | undefined): boolean =>
  token !== undefined && (run === across || (token !== '/' && token !== ':'));
