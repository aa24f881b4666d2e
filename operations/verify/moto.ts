/** Requests to moto's server: it takes any signature, and learns from it which service and Region are meant. */

export const region = 'eu-central-1';
export const motoKey = { accessKeyId: 'AKIAIOSFODNN7EXAMPLE', secretAccessKey: 'any' } as const;

const signedFor = (service: string): Readonly<Record<string, string>> => ({
  authorization: `AWS4-HMAC-SHA256 Credential=${motoKey.accessKeyId}/20260101/${region}/${service}/aws4_request, SignedHeaders=host, Signature=any`,
});

export const motoTool = { name: 'moto', version: '5.2.5', extras: '[all,server]' } as const;

type Answer = { readonly isDone: boolean; readonly text: string };

type Fields = Readonly<Record<string, string>>;

/** One action of CloudFormation, whose requests are forms. */
const ask = (url: string, fields: Fields): Promise<Answer> =>
  askForm(url, 'cloudformation', { Version: '2010-05-15', ...fields });

/** A subnet of the network that moto gives an account. */
export const firstSubnet = async (url: string): Promise<string> => {
  const { text } = await askForm(url, 'ec2', { Version: '2016-11-15', Action: 'DescribeSubnets' });
  return valuesOf(text, 'subnetId')[0] ?? '';
};

/** Tasks would stop of themselves once they were described. */
export const keepRunning = async (url: string): Promise<void> => {
  const transition = { progression: 'time', seconds: 3600 };
  const body = JSON.stringify({ model_name: 'ecs::task', transition });
  const response = await fetch(`${url}/moto-api/state-manager/set-transition`, { method: 'POST', body });
  if (!response.ok) throw new Error(`moto does not keep tasks running: ${await response.text()}`);
};

const askForm = async (url: string, service: string, fields: Fields): Promise<Answer> => {
  const body = new URLSearchParams(fields);
  const headers = signedFor(service);
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
