/** The stacks of a deployment as CloudFormation has them: their state, their outputs, and what they hold. */
import type { Aws } from './aws.ts';

export type Stack = {
  readonly name: string;
  readonly status: string;
  readonly outputs: Readonly<Record<string, string>>;
};

export type Held = { readonly id: string; readonly type: string; readonly physicalId: string };

type Described = {
  readonly Stacks: readonly {
    readonly StackName: string;
    readonly StackStatus: string;
    readonly Outputs?: readonly { readonly OutputKey: string; readonly OutputValue: string }[];
  }[];
};
type Listed = {
  readonly StackResourceSummaries: readonly {
    readonly LogicalResourceId: string;
    readonly PhysicalResourceId?: string;
    readonly ResourceType: string;
  }[];
};

/** From what stands on nothing to what stands on all of them: made in this order, deleted in the other. */
export const stackNames = ['data', 'network', 'compute', 'edge', 'observability'] as const;

/** Undefined when there is none: CloudFormation calls that a bad request. */
export const findStack = async (aws: Aws, name: string): Promise<Stack | undefined> => {
  const found = await aws.find<Described>(
    ['ValidationError'],
    'cloudformation',
    'describe-stacks',
    '--stack-name',
    name,
  );
  const [stack] = found?.Stacks ?? [];
  return (
    stack && {
      name: stack.StackName,
      status: stack.StackStatus,
      outputs: Object.fromEntries(
        (stack.Outputs ?? []).map(({ OutputKey, OutputValue }) => [OutputKey, OutputValue]),
      ),
    }
  );
};

export const resourcesOf = async (aws: Aws, stack: string): Promise<readonly Held[]> => {
  const args = ['list-stack-resources', '--stack-name', stack] as const;
  const { StackResourceSummaries } = await aws.ask<Listed>('cloudformation', ...args);
  return StackResourceSummaries.flatMap(
    ({ LogicalResourceId: id, PhysicalResourceId: physicalId, ResourceType: type }) =>
      physicalId === undefined ? [] : [{ id, type, physicalId }],
  );
};
