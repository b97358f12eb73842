import { chmodSync, mkdtempSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { containersOr, isDockerThere } from '@backoffice/local/containers.ts'
import { guardFolder } from '@backoffice/local/guard.ts'
import { embeddedParts, environmentOr } from '@backoffice/local/parts.ts'
import type {} from '@backoffice/testing/parts.ts'
import type { TestProject } from 'vitest/node'

/** Starts PostgreSQL, Kafka and the registry once for all test files, and leaves nothing of them behind. */
export default async function setup(project: TestProject): Promise<() => Promise<void>> {
  const directory = mkdtempSync(join(tmpdir(), 'backoffice-test-'))
  guardFolder(directory)
  // PostgreSQL runs as another user where the tests run as root.
  chmodSync(directory, 0o755)
  const embedded = embeddedParts({ directory })
  const starters = environmentOr((await isDockerThere()) ? containersOr(embedded) : embedded)
  const [postgres, kafka, registry] = await Promise.all([starters.postgres(), starters.kafka(), starters.registry()])

  project.provide('postgresUrl', postgres.address)
  project.provide('kafkaBrokers', kafka.address)
  project.provide('registryUrl', registry.address)
  return async () => {
    await Promise.all([postgres, kafka, registry].map((used) => used.stop()))
  }
}
