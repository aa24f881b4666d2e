/**
 * The adapters of S3, Secrets Manager, Scheduler, ECS and KMS on moto and on the embedded endpoints: the same work on both, with every
 * difference printed. One that no sentence below judges is a fault.
 */
import { generateKeyPairSync } from 'node:crypto';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { CreateClusterCommand, ECSClient, RegisterTaskDefinitionCommand } from '@aws-sdk/client-ecs';
import { CreateKeyCommand, KMSClient } from '@aws-sdk/client-kms';
import { CreateBucketCommand, S3Client } from '@aws-sdk/client-s3';
import { CreateScheduleGroupCommand, SchedulerClient } from '@aws-sdk/client-scheduler';
import { kmsSealKey, openSealKey } from '#shared/adapters/aws/seal-key.ts';
import { start as startEcs } from '../../local/ecs/start.ts';
import { start as startS3 } from '../../local/s3/start.ts';
import { start as startScheduler } from '../../local/scheduler/start.ts';
import { start as startSecrets } from '../../local/secrets/start.ts';
import { pythonTool, versionOf } from './installed.ts';
import { firstSubnet, keepRunning, motoKey, motoTool, region } from './moto.ts';
import { serve } from './programs.ts';
import type { Difference, Proof } from './proof.ts';
import {
  bucketName,
  objectWork,
  optionsOf,
  type Seen,
  type Service,
  scheduleGroup,
  scheduleWork,
  sealWork,
  secretWork,
} from './service-work.ts';
import { clusterName, taskWork } from './task-work.ts';

export const adaptersOnMoto: Proof = {
  name: 'services',
  about: 'the adapters of S3, Secrets Manager, Scheduler, ECS and KMS, on moto and on the embedded endpoints',
  prove: async (say) => {
    const programs = await pythonTool(motoTool);
    const version = `moto ${motoTool.version}, ${await versionOf(`${programs}/python`)}`;
    say(version);
    await using moto = await serve({
      program: `${programs}/moto_server`,
      args: (port) => ['-H', '127.0.0.1', '-p', String(port)],
    });
    const [theirs, ours] = [await onMoto(moto.url), await onEmbedded()];
    const faults: string[] = [];
    const differences: Difference[] = [];
    for (const [service, seen] of Object.entries(theirs)) {
      const mine = ours[service] ?? {};
      const differing = Object.keys(seen).filter((step) => seen[step] !== mine[step]);
      say(
        `${service}: ${Object.keys(seen).length - differing.length} of ${Object.keys(seen).length} steps alike`,
      );
      for (const step of differing) {
        const judgement = judged[`${service}: ${step}`];
        say(
          `  ${step}: moto ${seen[step]}; embedded ${mine[step]}${judgement === undefined ? '' : `. ${judgement}`}`,
        );
        if (judgement === undefined) faults.push(`${service}: ${step} differs`);
        else differences.push({ what: `${service}: ${step}`, became: judgement });
      }
    }
    return { version, faults, differences };
  },
};

/** Differences that stay, and why. */
const judged: Readonly<Record<string, string>> = {
  's3: write with a wrong MD5': 'moto does not check bodies; S3 does (A25)',
  's3: write with a wrong SHA-256': 'moto does not check bodies; S3 does (A25)',
  's3: what stands then': 'moto took the wrong body; S3 keeps the old object (A25)',
  'ecs: start again with the same token': 'moto does not read clientToken; ECS gives the first task',
  'ecs: describe': 'moto gives a task neither createdAt nor a network interface; Fargate gives both',
  'ecs: describe what was stopped': 'moto runs nothing that could end with a code of its own',
  'ecs: list what was stopped': 'moto lists tasks of every state; ECS those whose desired status is RUNNING',
  'ecs: stop one that never was': 'moto answers 500; ECS answers InvalidParameterException',
  'seal: sign': 'moto hashes a DIGEST once more; KMS signs it as it is',
};

type Work = Readonly<Record<string, Seen>>;

const onMoto = async (url: string): Promise<Work> => {
  const service: Service = { url, credentials: motoKey, region };
  const { endpoint, ...account } = optionsOf(service);
  const s3 = new S3Client({ endpoint, ...account, forcePathStyle: true });
  await s3.send(
    new CreateBucketCommand({
      Bucket: bucketName,
      CreateBucketConfiguration: { LocationConstraint: region },
    }),
  );
  const scheduler = new SchedulerClient({ endpoint, ...account });
  await scheduler.send(new CreateScheduleGroupCommand({ Name: scheduleGroup }));
  await keepRunning(url);
  const ecs = new ECSClient({ endpoint, ...account });
  await ecs.send(new CreateClusterCommand({ clusterName }));
  for (const family of ['sallyport-python', 'sallyport-node'])
    await ecs.send(new RegisterTaskDefinitionCommand(definition(family)));
  const kms = new KMSClient({ endpoint, ...account });
  const { KeyMetadata } = await kms.send(
    new CreateKeyCommand({ KeySpec: 'ECC_NIST_P256', KeyUsage: 'SIGN_VERIFY' }),
  );
  const work = {
    s3: await objectWork(service),
    secrets: await secretWork(service),
    scheduler: await scheduleWork(service),
    ecs: await taskWork({ ...service, subnet: await firstSubnet(url) }),
    seal: await sealWork(kmsSealKey(kms, KeyMetadata?.Arn ?? '')),
  };
  for (const client of [s3, scheduler, ecs, kms]) client.destroy();
  return work;
};

const definition = (family: string) => ({
  family,
  networkMode: 'awsvpc' as const,
  requiresCompatibilities: ['FARGATE' as const],
  ...{ cpu: '512', memory: '1024' },
  containerDefinitions: [{ name: 'sandbox', image: 'sallyport', essential: true, memory: 576 }],
});

const onEmbedded = async (): Promise<Work> => {
  const home = await mkdtemp(join(tmpdir(), 'sallyport-services-'));
  await using opened = new AsyncDisposableStack();
  opened.defer(() => rm(home, { recursive: true, force: true }));
  const started = <
    E extends {
      readonly url: string;
      readonly credentials: Service['credentials'];
      readonly stop: () => Promise<void>;
    },
  >(
    endpoint: E,
  ): Service => {
    opened.defer(endpoint.stop);
    return { url: endpoint.url, credentials: endpoint.credentials, region: 'us-east-1' };
  };
  const s3 = started(await startS3({ folder: join(home, 's3'), buckets: [bucketName] }));
  const secrets = started(await startSecrets({ folder: join(home, 'secrets') }));
  const functions = { invokeLater: () => undefined };
  const scheduler = started(await startScheduler({ folder: join(home, 'scheduler'), functions }));
  const ecs = started(await startEcs({ home, onTaskEvent: () => undefined }));
  const sealKey = join(home, 'seal-key.pem');
  const { privateKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' });
  await writeFile(sealKey, privateKey.export({ type: 'pkcs8', format: 'pem' }));
  return {
    s3: await objectWork(s3),
    secrets: await secretWork(secrets),
    scheduler: await scheduleWork(scheduler),
    ecs: await taskWork({ ...ecs, subnet: 'subnet-local' }),
    seal: await sealWork(openSealKey(sealKey)),
  };
};
