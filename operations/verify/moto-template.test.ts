/** Parts that are left out of a template for moto, and what is written in their place. */
import { expect, test } from 'vitest';
import { asCreatable } from './moto-template.ts';

const template = {
  Resources: {
    Queue: { Type: 'AWS::SQS::Queue', Properties: {}, DependsOn: ['Api', 'Role'] },
    Role: {
      Type: 'AWS::IAM::Role',
      Properties: {
        Allow: { 'Fn::GetAtt': ['Table', 'Arn'] },
        Name: { 'Fn::Join': ['', ['a-', { Ref: 'Table' }]] },
        Of: { 'Fn::GetStackOutput': { StackName: 'data', OutputName: 'Bucket' } },
        Own: { 'Fn::GetAtt': ['Queue', 'Arn'] },
      },
    },
    Api: { Type: 'AWS::ApiGatewayV2::Api', Properties: {} },
    Table: { Type: 'AWS::DynamoDB::GlobalTable', Properties: {} },
  },
  Outputs: { Name: { Value: { Ref: 'Table' } } },
};

test('a type that moto does not know is left out, counted, and its values stand in the others', () => {
  const found = asCreatable(template, {
    knows: (type) => ['AWS::SQS::Queue', 'AWS::IAM::Role'].includes(type),
    outputOf: (stack, output) => `${stack}/${output}`,
  });
  expect(found.ids).toEqual(['Queue', 'Role']);
  expect(found.skipped).toEqual({ 'AWS::ApiGatewayV2::Api': 1, 'AWS::DynamoDB::GlobalTable': 1 });
  expect(found.template).toEqual({
    Resources: {
      Queue: { Type: 'AWS::SQS::Queue', Properties: {}, DependsOn: ['Role'] },
      Role: {
        Type: 'AWS::IAM::Role',
        Properties: {
          Allow: 'arn:aws:skipped:us-east-1:123456789012:Table',
          Name: { 'Fn::Join': ['', ['a-', 'skipped-table-ref']] },
          Of: 'data/Bucket',
          Own: { 'Fn::GetAtt': ['Queue', 'Arn'] },
        },
      },
    },
    Outputs: { Name: { Value: 'skipped-table-ref' } },
  });
});

test('what moto misreads is put as it reads it', () => {
  const tagged = { Tags: [{ Key: 'a', Value: 'b' }], Enabled: true };
  const { template } = asCreatable(
    {
      Resources: {
        Key: { Type: 'AWS::KMS::Key', Properties: tagged },
        Topic: { Type: 'AWS::SNS::Topic', Properties: tagged },
        Health: { Type: 'AWS::ApiGateway::Method', Properties: { Integration: { Type: 'MOCK' } } },
      },
    },
    { knows: () => true, outputOf: () => '' },
  );
  expect(template).toEqual({
    Resources: {
      Key: { Type: 'AWS::KMS::Key', Properties: { Enabled: true } },
      Topic: { Type: 'AWS::SNS::Topic', Properties: tagged },
      Health: {
        Type: 'AWS::ApiGateway::Method',
        Properties: { Integration: { Type: 'MOCK', IntegrationHttpMethod: 'POST', Uri: '' } },
      },
    },
  });
});
