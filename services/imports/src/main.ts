import { runService } from '@backoffice/service/run-service.ts'
import { applyImports } from './applying/apply-imports.ts'
import { recordRejectedBatches } from './applying/record-rejected-batches.ts'
import { recordResults } from './applying/record-results.ts'
import { ImportsConfig, importStorage } from './config.ts'
import { removeExpired } from './expiry/remove-expired.ts'
import { operations } from './operations.ts'
import { ownerClient } from './owners/owner-client.ts'
import { undoImports } from './undo/undo-imports.ts'
import { validateImports } from './validation/validate-imports.ts'

await runService('imports', ImportsConfig, ({ config, db, logger, openPool, consume, wakeRelay }) => {
  const storage = importStorage(config)
  const worker = openPool('worker', { role: 'worker', poolSize: 2 })
  // Not the connections of requests, whose share a busy workspace uses up: its work here would hold up that of others.
  const jobs = openPool('jobs', { role: 'app', poolSize: 6 })
  const results = openPool('results', { role: 'app', poolSize: 4 })
  const owners = ownerClient(config, config.INTERNAL_TOKEN_PRIVATE_KEY)
  const validation = validateImports({ db: jobs, worker, storage, owners, logger })
  const batches = applyImports({ db: jobs, worker, storage }, logger)
  const undos = undoImports({ db: jobs, worker, owners, logger }, batches.wake)
  const onRecorded = () => {
    batches.wake()
    wakeRelay()
  }
  return {
    worker,
    operations: operations(db, storage, config.STORED_BYTES_PER_WORKSPACE, {
      validation: validation.wake,
      batches: batches.wake,
      undos: undos.wake,
    }),
    components: [storage, owners],
    workspaces: { files: storage },
    consumers: [consume(recordResults(onRecorded), results), consume(recordRejectedBatches(wakeRelay), results)],
    workers: [validation, batches, undos, removeExpired({ db: jobs, worker, storage }, logger)],
  }
})
