/** Requests to moto's server: it takes any signature, and learns from it which service and Region are meant. */

export const region = 'eu-central-1';
export const motoKey = { accessKeyId: 'AKIAIOSFODNN7EXAMPLE', secretAccessKey: 'any' } as const;

const signedFor = (service: string): Readonly<Record<string, string>> => ({
  authorization: `AWS4-HMAC-SHA256 Credential=${motoKey.accessKeyId}/20260101/${region}/${service}/aws4_request, SignedHeaders=host, Signature=any`,
});

type Answer = { readonly isDone: boolean; readonly text: string };

/** One action of CloudFormation, whose requests are forms. */
const ask = async (url: string, fields: Readonly<Record<string, string>>): Promise<Answer> => {
  const body = new URLSearchParams({ Version: '2010-05-15', ...fields });
  const headers = signedFor('cloudformation');
  const response = await fetch(url, { method: 'POST', headers, body });
  return { isDone: response.ok, text: await response.text() };
};

/** Written before any stack: the version of the CDK's bootstrap. */
export const putParameter = async (url: string, name: string, value: string): Promise<void> => {
  const headers = {
    ...signedFor('ssm'),
    'content-type': 'application/x-amz-json-1.1',
    'x-amz-target': 'AmazonSSM.PutParameter',
  };
  const body = JSON.stringify({ Name: name, Value: value, Type: 'String' });
  const response = await fetch(url, { method: 'POST', headers, body });
  if (!response.ok) throw new Error(`moto does not keep ${name}: ${await response.text()}`);
};

type Stack = {
  readonly url: string;
  readonly stack: string;
  readonly template: object;
  readonly parameters: Readonly<Record<string, string>>;
};

/** The reason for which moto did not create the stack. */
export const createStack = async ({
  url,
  stack,
  template,
  parameters,
}: Stack): Promise<string | undefined> => {
  const given = Object.entries(parameters).flatMap(([key, value], index) => [
    [`Parameters.member.${index + 1}.ParameterKey`, key],
    [`Parameters.member.${index + 1}.ParameterValue`, value],
  ]);
  const { isDone, text } = await ask(url, {
    Action: 'CreateStack',
    StackName: stack,
    TemplateBody: JSON.stringify(template),
    'Capabilities.member.1': 'CAPABILITY_NAMED_IAM',
    ...Object.fromEntries(given),
  });
  if (!isDone) return text;
  const state = await described(url, stack);
  const [status] = valuesOf(state, 'StackStatus');
  return status === 'CREATE_COMPLETE' ? undefined : `${status}: ${state}`;
};

const described = async (url: string, stack: string): Promise<string> =>
  (await ask(url, { Action: 'DescribeStacks', StackName: stack })).text;

export const outputsOf = async (url: string, stack: string): Promise<ReadonlyMap<string, string>> => {
  const text = await described(url, stack);
  const values = valuesOf(text, 'OutputValue');
  return new Map(valuesOf(text, 'OutputKey').map((name, index) => [name, values[index] ?? '']));
};

/** Logical ids. */
export const createdIn = async (url: string, stack: string): Promise<ReadonlySet<string>> => {
  const ids: string[] = [];
  for (let token = ''; ; ) {
    const page = await ask(url, {
      Action: 'ListStackResources',
      StackName: stack,
      ...(token === '' ? {} : { NextToken: token }),
    });
    if (!page.isDone) throw new Error(`moto does not list ${stack}: ${page.text}`);
    ids.push(...valuesOf(page.text, 'LogicalResourceId'));
    token = valuesOf(page.text, 'NextToken')[0] ?? '';
    if (token === '') return new Set(ids);
  }
};

const valuesOf = (xml: string, name: string): readonly string[] =>
  [...xml.matchAll(new RegExp(`<${name}>([^<]*)</${name}>`, 'g'))].map(([, value = '']) => value);
