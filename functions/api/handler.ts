/** The REST API under `/api`: authenticates, routes, answers as a stream; every failure is one JSON shape. */
import { openAuditSeals } from '#shared/adapters/aws/audit-seals.ts';
import { makeCallerStore } from '#shared/adapters/aws/dynamo/caller-store.ts';
import { makeFileLinkStore } from '#shared/adapters/aws/dynamo/file-links.ts';
import { makeMcpServerStore } from '#shared/adapters/aws/dynamo/mcp-servers.ts';
import { makeClientStore, makeCodeStore } from '#shared/adapters/aws/dynamo/oauth-client-store.ts';
import { makeGrantStore } from '#shared/adapters/aws/dynamo/oauth-grant-store.ts';
import { makeRateLimiter } from '#shared/adapters/aws/dynamo/rate-buckets.ts';
import { makeScheduleStore } from '#shared/adapters/aws/dynamo/schedules.ts';
import { makeSignInStore } from '#shared/adapters/aws/dynamo/sign-in-store.ts';
import { makeTreeStore } from '#shared/adapters/aws/dynamo/trees.ts';
import { makeMetricsStore } from '#shared/adapters/aws/dynamo/usage-metrics.ts';
import { openProjectSecrets } from '#shared/adapters/aws/project-secrets.ts';
import { openSandboxes } from '#shared/adapters/aws/sandboxes.ts';
import { makeScheduleDispatcher } from '#shared/adapters/aws/schedule-dispatcher.ts';
import { openSealKey } from '#shared/adapters/aws/seal-key.ts';
import { resolveSecret } from '#shared/adapters/aws/setting-secrets.ts';
import { makeWebhookDispatcher } from '#shared/adapters/aws/webhook-dispatcher.ts';
import { compose } from '#shared/adapters/lambda/compose.ts';
import { openLambdaRuntime } from '#shared/adapters/lambda/lambda-runtime.ts';
import { makeAddressGuard } from '#shared/adapters/mcp/address-guard.ts';
import { openRemoteMcp } from '#shared/adapters/mcp/open-remote-mcp.ts';
import { chooseProvider, configuredProviders } from '#shared/adapters/models/configured-providers.ts';
import { makeModelCatalog } from '#shared/adapters/models/model-catalog.ts';
import { makeModelProviders } from '#shared/adapters/models/model-providers.ts';
import { modelAccess } from '#shared/adapters/models/provider-access.ts';
import { makeOAuthProtocol } from '#shared/adapters/oauth/protocol.ts';
import { openIssuer } from '#shared/adapters/oidc/open-issuer.ts';
import { openLoginClient } from '#shared/adapters/oidc/open-login-client.ts';
import { secretMaker } from '#shared/adapters/webhook/signature.ts';
import { allowedHostsSetting } from '#shared/adapters/webhook/webhook-post.ts';
import { holdsConsent, record } from '#shared/application/access/connected-clients.ts';
import { readEnvironment } from '#shared/config/environment.ts';
import {
  egressCeilingOf,
  rateOf,
  sessionDefaultsOf,
  slotLimitsOf,
  treeLimitsOf,
  turnLimitsOf,
} from '#shared/config/environment-values.ts';
import { isOwnAuthorizationServer } from '#shared/config/oidc-settings.ts';
import { callsPerAnswerMax } from '#shared/domain/limits.ts';
import { grantSecondsMax } from '#shared/domain/oauth/grant.ts';
import { pricesOf } from '#shared/domain/price.ts';
import type { ApiEvent } from './api-route.ts';
import { answerWith } from './route-request.ts';
import { routes } from './routes.ts';

// biome-ignore lint/style/noProcessEnv: the one read of this function's environment
const environment = readEnvironment('api', process.env);
const runtime = openLambdaRuntime('api', environment.DEPLOYMENT);
const { table, lambda, ports: common } = compose(environment, runtime);
const metrics = makeMetricsStore(table);
runtime.storeUsageIn(metrics);

const settings = {
  ...sessionDefaultsOf(environment),
  provider: chooseProvider(environment),
};

const stats = {
  executionMax: environment.MSB_MAX_SESSIONS,
  poolSize: environment.POOL_SIZE,
  limits: environment.SANDBOX_LIMITS,
};

const mcpTimes = { checkMs: environment.MCP_CHECK_SECONDS * 1000 };

const configured = configuredProviders(environment);

const prices = pricesOf(environment.MODEL_PRICES);

const limits = { ...turnLimitsOf(environment), callsMax: callsPerAnswerMax };

const treeLimits = treeLimitsOf(environment);

const egress = { allowedPrivateHosts: environment.MCP_ALLOWED_PRIVATE_HOSTS };

const oauthStores = {
  clients: makeClientStore(table),
  codes: makeCodeStore(table),
  grants: makeGrantStore(table),
  adminTokenHash: environment.ADMIN_TOKEN_SHA256,
};

const protocol = makeOAuthProtocol({
  ...common,
  ...oauthStores,
  stillHolds: (consent) => holdsConsent({ ...common, ...oauthStores }, consent),
  onConnected: async (grant) => {
    await oauthStores.clients.keep(grant.client.id, grant.createdAt + grantSecondsMax * 1000);
    await record(common, grant, { action: 'client.connect' });
  },
  onReplay: (grant) => record(common, grant, { action: 'client.replay' }),
});

const isOAuthOn = isOwnAuthorizationServer(environment);

const ports = {
  ...common,
  ...oauthStores,
  protocol,
  ...slotLimitsOf(environment),
  ...egressCeilingOf(environment),
  auditSeals: openAuditSeals(environment.WORKSPACE_BUCKET, environment.AUDIT_SEAL_BUCKET),
  sealKey: openSealKey(environment.AUDIT_SEAL_KEY),
  callers: makeCallerStore(table),
  trees: makeTreeStore(table),
  mcpServers: makeMcpServerStore(table),
  addressGuard: makeAddressGuard(egress),
  remoteMcp: openRemoteMcp(egress),
  fileLinks: makeFileLinkStore(table),
  schedules: makeScheduleStore(table),
  scheduleDispatcher: makeScheduleDispatcher(lambda, environment.SCHEDULES_FUNCTION, runtime.correlation),
  webhookDispatcher: makeWebhookDispatcher(lambda, environment.WEBHOOKS_FUNCTION, runtime.correlation),
  webhookGuard: makeAddressGuard({
    allowedPrivateHosts: environment.WEBHOOK_ALLOWED_PRIVATE_HOSTS,
    setting: allowedHostsSetting,
  }),
  webhookSecrets: secretMaker,
  rateLimiter: makeRateLimiter(table, rateOf(environment)),
  secrets: openProjectSecrets(table, {
    prefix: environment.PROJECT_SECRETS_PREFIX,
    keyArn: environment.PROJECT_SECRETS_KEY,
  }),
  catalog: makeModelCatalog(makeModelProviders(modelAccess(environment, resolveSecret))),
  metrics,
  signIn: openIssuer(environment, runtime.telemetry),
  login: openLoginClient(environment, { telemetry: runtime.telemetry, resolveSecret }),
  signIns: makeSignInStore(table),
  signInMs: environment.SIGN_IN_SECONDS * 1000,
};
const sandboxes = openSandboxes(environment, { table, lambda, correlation: runtime.correlation });

export const handler = runtime.streamingHandler<ApiEvent>(async (event, context) => {
  runtime.correlation.follow(event.requestContext.requestId);
  const api = {
    ports: { ...ports, ...(await sandboxes()) },
    settings,
    limits,
    treeLimits,
    snapshotsMax: environment.MAX_SNAPSHOTS,
    stats,
    mcpTimes,
    prices,
    configured,
    publicUrl: environment.PUBLIC_URL,
    isOAuthOn,
  };
  const auth = { ports, publicUrl: environment.PUBLIC_URL };
  const oauth = { ports, publicUrl: environment.PUBLIC_URL, isOn: isOAuthOn };
  const doors = { routes: routes(api), preview: api, links: api, auth, oauth };
  return answerWith(ports, { event, context }, doors);
});
