import type { ServiceName } from '@backoffice/contracts/services.ts'
import { openDatabase } from '@backoffice/postgres/database.ts'
import { createLogger } from '@backoffice/runtime/logger.ts'
import { aCaller } from '@backoffice/testing/caller.ts'
import type { TestDatabase } from '@backoffice/testing/database.ts'
import { eventually } from '@backoffice/testing/eventually.ts'
import { serviceClient } from '@backoffice/testing/service-client.ts'
import { whenDone } from '@backoffice/testing/when-done.ts'
import type { Checks } from '../checks/check.ts'
import { checkRequests } from '../checks/check-requests.ts'
import type { CheckRun } from '../checks/check-run.ts'
import { runChecks } from '../checks/run-checks.ts'

/** Runs checks over a test database as the replicas of a service do. */
export async function checkRuns(name: ServiceName, checks: Checks, { workerUrl }: Pick<TestDatabase, 'workerUrl'>) {
  const pool = openDatabase({ url: workerUrl, applicationName: 'checks of tests', poolSize: 2 })
  whenDone(() => pool.stop?.())
  const startReplica = async () => {
    const running = runChecks(name, checks, {
      server: { url: workerUrl },
      pool,
      logger: createLogger('test', 'silent'),
    })
    whenDone(() => running.stop?.())
    await running.start?.()
    return running
  }
  const first = await startReplica()
  const send = serviceClient(pool, checkRequests(checks, pool, first.wake))
  const ask = (check: string, parameters: object = {}) =>
    send<CheckRun>(aCaller(), 'POST', '/internal/checks/runs', { check, parameters })
  const read = async (id: string) =>
    (await send<{ run: CheckRun | null }>(aCaller(), 'GET', `/internal/checks/run?id=${id}`)).body.run
  const ended = (id: string) =>
    eventually(`run ${id} has ended`, async () => {
      const run = await read(id)
      return run?.ended_at != null && run
    })
  return {
    first,
    send,
    startReplica,
    ask,
    read,
    ended,
    /** Asks for a run, and returns it once it has ended. */
    run: async (check: string, parameters?: object) => ended((await ask(check, parameters)).body.id),
  }
}
