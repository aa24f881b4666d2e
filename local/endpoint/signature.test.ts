/** The published examples of AWS; that real clients sign the same way is what every test of an endpoint shows. */
import { expect, test } from 'vitest';
import { parseAuthorization, type SignedParts, sha256, sign, signatureOf } from './signature.ts';

const secret = 'wJalrXUtnFEMI/K7MDENG+bPxRfiCYEXAMPLEKEY';
const parts: SignedParts = {
  method: 'GET',
  target: '/',
  headers: { host: 'example.amazonaws.com', 'x-amz-date': '20150830T123600Z' },
  signedHeaders: ['host', 'x-amz-date'],
  dateTime: '20150830T123600Z',
  payloadHash: sha256(''),
  scope: { date: '20150830', region: 'us-east-1', service: 'service' },
};

// "aws-sig-v4-test-suite": https://docs.aws.amazon.com/IAM/latest/UserGuide/reference_sigv.html
test.each<[string, Partial<SignedParts>, string]>([
  ['get-vanilla', {}, '5fa00fa31553b73ebf1942676e86291e8372ff2a2260956d9b8aae1d763fbf31'],
  ['post-vanilla', { method: 'POST' }, '5da7c1a2acd57cee7505fc6676e4e544621c30862966e37dddb68e92efbe5d6b'],
  [
    'get-vanilla-query-order-key-case',
    { target: '/?Param2=value2&Param1=value1' },
    'b97d918cfa904a5beff61c982a1b6f458b799221646efd99d3219ec94cdf2500',
  ],
  [
    'get-header-value-trim',
    {
      headers: { ...parts.headers, 'my-header1': ' value1', 'my-header2': ' "a   b   c"' },
      signedHeaders: ['host', 'my-header1', 'my-header2', 'x-amz-date'],
    },
    'acc3ed3afb60bb290fc8d2dd0098b9911fcaa05412b367055dee359757a9c736',
  ],
  [
    // https://docs.aws.amazon.com/IAM/latest/UserGuide/reference_sigv-create-signed-request.html
    'ListUsers of IAM',
    {
      target: '/?Action=ListUsers&Version=2010-05-08',
      headers: {
        'content-type': 'application/x-www-form-urlencoded; charset=utf-8',
        host: 'iam.amazonaws.com',
        'x-amz-date': '20150830T123600Z',
      },
      signedHeaders: ['content-type', 'host', 'x-amz-date'],
      scope: { date: '20150830', region: 'us-east-1', service: 'iam' },
    },
    '5d672d79c15b13162d9279b0855cfba6789a8edb4c82c400e06b5924a6f2b5d7',
  ],
])('%s', (_name, change, signature) => {
  expect(signatureOf({ ...parts, ...change }, secret)).toBe(signature);
});

test('a signature is parsed, and any other text is none', () => {
  const credentials = { accessKeyId: 'AKIDEXAMPLE', secretAccessKey: secret };
  const toSign = { method: 'GET', target: '/', headers: { host: 'example.amazonaws.com' } };
  const { authorization } = sign({ ...toSign, service: 'service', region: 'us-east-1' }, credentials, 0);
  expect(parseAuthorization(String(authorization))).toEqual({
    accessKeyId: 'AKIDEXAMPLE',
    scope: { date: '19700101', region: 'us-east-1', service: 'service' },
    signedHeaders: ['host', 'x-amz-date'],
    signature: expect.stringMatching(/^[0-9a-f]{64}$/),
  });
  const wrong = [
    '',
    'Bearer x',
    String(authorization).slice(0, -1),
    `${authorization}0`,
    `x${authorization}`,
  ];
  expect(wrong.map(parseAuthorization)).toEqual(wrong.map(() => undefined));
});
