/** Grants of the synthesised stacks: the statements of each function's role, and the names that the embedded cloud changes. */
import type { FunctionName } from '#shared/config/environment.ts';
import { type Authorisation, executionRoleOf } from '../../local/recorder/authorisations.ts';
import type { Statement } from './policy-evaluation.ts';
import { type DeployedTemplate, type Resolve, resolverOf } from './template-values.ts';

export type Granted = {
  readonly statementsOf: (name: FunctionName) => readonly Statement[];
  /** A call of the embedded cloud, with the resources it would have on AWS. */
  readonly onAws: (asked: Authorisation) => Authorisation;
};

type Found = { readonly id: string; readonly type: string; readonly properties: Record<string, unknown> };

export const grantedBy = (templates: readonly DeployedTemplate[]): Granted => {
  const resources = templates.flatMap((template) => resourcesOf(template, resolverOf(template, templates)));
  const functionNamed = (name: FunctionName): Found => {
    const prefix = new RegExp(`Functions${name.replaceAll('-', '')}Function[0-9A-F]{8}$`);
    return only(resources, ({ type, id }) => type === 'AWS::Lambda::Function' && prefix.test(id), name);
  };
  return {
    statementsOf: (name) => {
      const role = String(functionNamed(name).properties['Role']);
      const policies = resources.filter(
        ({ type, properties }) =>
          type === 'AWS::IAM::Policy' &&
          (properties['Roles'] as readonly string[]).some(
            (id) => role === `arn:aws:iam::000000000000:role/${id}`,
          ),
      );
      return policies.flatMap(
        ({ properties }) => (properties['PolicyDocument'] as { Statement: Statement[] }).Statement,
      );
    },
    onAws: renaming(resources, functionNamed('schedules')),
  };
};

const resourcesOf = ({ Resources }: DeployedTemplate, resolve: Resolve): readonly Found[] =>
  Object.entries(Resources).flatMap(([id, { Type, Properties = {} }]) =>
    readTypes.has(Type)
      ? [{ id, type: Type, properties: resolve(Properties) as Record<string, unknown> }]
      : [],
  );

const readTypes = new Set(['AWS::Lambda::Function', 'AWS::IAM::Policy', 'AWS::ECS::TaskDefinition']);

const only = (resources: readonly Found[], isWanted: (found: Found) => boolean, what: string): Found => {
  const [found, ...others] = resources.filter(isWanted);
  if (found === undefined || others.length > 0)
    throw new Error(`${others.length + (found ? 1 : 0)} resources are ${what}`);
  return found;
};

/** Translates the names of `local/cloud.ts` to those of the default stage. */
const renaming = (resources: readonly Found[], schedules: Found): Granted['onAws'] => {
  const variables = (schedules.properties['Environment'] as { Variables: Record<string, string> }).Variables;
  const roles = resources
    .filter(({ type }) => type === 'AWS::ECS::TaskDefinition')
    .map(
      ({ properties }) =>
        [executionRoleOf(String(properties['Family'])), String(properties['ExecutionRoleArn'])] as const,
    );
  const names = [
    ...roles,
    ['arn:aws:iam::000000000000:role/sallyport-schedules', variables['SCHEDULE_ROLE'] ?? ''] as const,
    ['schedule/sallyport/', `schedule/${variables['SCHEDULE_GROUP']}/`] as const,
    ['secret:sallyport/local/', 'secret:sallyport/sallyport/'] as const,
  ];
  return (asked) => ({
    ...asked,
    resource: names.reduce((resource, [local, aws]) => resource.replace(local, aws), asked.resource),
  });
};
