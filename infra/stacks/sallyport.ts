/**
 * The default app: stacks parted by how often they change, so that a new handler touches neither data nor network.
 *
 * Every stack passes the AwsSolutions rules; an exception is acknowledged at its place, with the reason. A bad setting
 * stops the synth with the same line as a start of the program.
 */
import { type App, BOOTSTRAP_QUALIFIER_CONTEXT, Tags, Validations } from 'aws-cdk-lib';
import { ManagedPolicy, PermissionsBoundary } from 'aws-cdk-lib/aws-iam';
import { AwsSolutionsChecks } from 'cdk-nag';
import { checkSettings, type Settings } from '../settings.ts';
import {
  ComputeStack,
  DataStack,
  EdgeStack,
  FirewallStack,
  NetworkStack,
  ObservabilityStack,
} from './stacks.ts';

export type Sallyport = {
  readonly data: DataStack;
  readonly network: NetworkStack;
  readonly compute: ComputeStack;
  readonly edge: EdgeStack;
  readonly observability: ObservabilityStack;
  /** In us-east-1, if the settings enable it. */
  readonly firewall?: FirewallStack;
};

export const addSallyport = (app: App, settings: Settings): Sallyport => {
  checkSettings(settings);
  const { bootstrapQualifier, permissionsBoundaryArn, tags = {} } = settings;
  if (bootstrapQualifier !== undefined) app.node.setContext(BOOTSTRAP_QUALIFIER_CONTEXT, bootstrapQualifier);
  const name = (stack: string): string => `${settings.deployment}-${stack}`;
  const data = new DataStack(app, name('data'), { settings });
  const network = new NetworkStack(app, name('network'), { settings, data });
  const compute = new ComputeStack(app, name('compute'), { settings, data, network });
  const edge = new EdgeStack(app, name('edge'), { settings, data, compute });
  const firewall = settings.firewall ? new FirewallStack(app, name('firewall'), { settings }) : undefined;
  if (firewall !== undefined) edge.addStackDependency(firewall);
  const observability = new ObservabilityStack(app, name('observability'), { settings, data, compute, edge });
  for (const [key, value] of Object.entries({ ...tags, deployment: settings.deployment }))
    Tags.of(app).add(key, value);
  if (permissionsBoundaryArn !== undefined)
    PermissionsBoundary.of(app).apply(
      ManagedPolicy.fromManagedPolicyArn(data, 'PermissionsBoundary', permissionsBoundaryArn),
    );
  Validations.of(app).addPlugins(new AwsSolutionsChecks(app));
  return { data, network, compute, edge, observability, ...(firewall && { firewall }) };
};
