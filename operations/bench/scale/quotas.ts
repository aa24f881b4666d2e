/**
 * Default quotas of an AWS account and of a model provider, each with its page, and the platform's own limits. They were
 * read in November 2026; an account may have others, and `npm run doctor` reads those of yours.
 */
export type Quota = {
  readonly name: string;
  readonly amount: number;
  readonly unit: string;
  readonly source: string;
  readonly canBeRaised: boolean;
};

const aws = (path: string): string => `https://docs.aws.amazon.com/${path}`;

export const quotas = {
  fargateVcpus: {
    name: 'Fargate On-Demand vCPUs',
    amount: 6,
    unit: 'vCPU',
    source: aws('AmazonECS/latest/developerguide/service-quotas.html'),
    canBeRaised: true,
  },
  fargateLaunches: {
    name: 'Fargate launches',
    amount: 20,
    unit: 'a second',
    source: aws('AmazonECS/latest/developerguide/throttling.html'),
    canBeRaised: true,
  },
  networkInterfaces: {
    name: 'network interfaces',
    amount: 5000,
    unit: 'a region',
    source: aws('vpc/latest/userguide/amazon-vpc-limits.html'),
    canBeRaised: true,
  },
  subnetAddresses: {
    name: 'addresses of one zone of the network (10.77.0.0/16, an eighth of it, less 5)',
    amount: 8187,
    unit: 'a zone',
    source: 'infra/settings.ts',
    canBeRaised: true,
  },
  lambdaConcurrency: {
    name: 'Lambda concurrent executions',
    amount: 1000,
    unit: 'at once',
    source: aws('lambda/latest/dg/gettingstarted-limits.html'),
    canBeRaised: true,
  },
  tableWrites: {
    name: 'DynamoDB write units of a table',
    amount: 40_000,
    unit: 'a second',
    source: aws('amazondynamodb/latest/developerguide/ServiceQuotas.html'),
    canBeRaised: true,
  },
  gatewayRequests: {
    name: 'API Gateway requests, posts to sockets included',
    amount: 10_000,
    unit: 'a second',
    source: aws('apigateway/latest/developerguide/limits.html'),
    canBeRaised: true,
  },
  socketConnects: {
    name: 'API Gateway new sockets',
    amount: 500,
    unit: 'a second',
    source: aws('apigateway/latest/developerguide/apigateway-execution-service-websocket-limits-table.html'),
    canBeRaised: true,
  },
  agentSlots: {
    name: 'MAX_AGENT_SLOTS of one project, as it is set by default',
    amount: 10,
    unit: 'a project',
    source: 'docs/settings.md',
    canBeRaised: true,
  },
  agentSlotsMax: {
    name: 'MAX_AGENT_SLOTS of one project, at most',
    amount: 1000,
    unit: 'a project',
    source: 'docs/settings.md',
    canBeRaised: false,
  },
  modelRequests: {
    name: 'Anthropic requests, tier Scale',
    amount: 4000,
    unit: 'a minute',
    source: 'https://platform.claude.com/docs/en/api/rate-limits',
    canBeRaised: true,
  },
  modelInput: {
    name: 'Anthropic input tokens that are not cached, tier Scale',
    amount: 4_000_000,
    unit: 'a minute',
    source: 'https://platform.claude.com/docs/en/api/rate-limits',
    canBeRaised: true,
  },
  modelOutput: {
    name: 'Anthropic output tokens, tier Scale',
    amount: 800_000,
    unit: 'a minute',
    source: 'https://platform.claude.com/docs/en/api/rate-limits',
    canBeRaised: true,
  },
} as const satisfies Record<string, Quota>;

export type QuotaName = keyof typeof quotas;

/** Of the token bucket of launches. */
export const launchBurst = 100;
/** Amazon: 30 to 45 seconds or longer are normal. */
export const coldStartSeconds = 40;
export const poolSizeMax = 100;
