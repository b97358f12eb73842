import { runService } from '@backoffice/service/run-service.ts'
import { publishBatches } from './applying/publish-batches.ts'
import { recordRejectedBatches, recordResults } from './applying/record-results.ts'
import { ImportsConfig, importStorage } from './config.ts'
import { measureImports } from './imports/measure-imports.ts'
import { OwnerClient } from './imports/owner-client.ts'
import { removeExpired } from './imports/remove-expired.ts'
import { operations } from './operations.ts'
import { POOLS } from './pools.ts'
import { expireKeptRows } from './undo/expire-kept-rows.ts'
import { undoImports } from './undo/undo-imports.ts'
import { validateImports } from './validation/validate-imports.ts'

await runService('imports', ImportsConfig, POOLS, ({ config, tokens, db, logger, pools, consume, wakeRelay }) => {
  const storage = importStorage(config)
  const { worker, jobs, results } = pools
  const owners = new OwnerClient(config, tokens.signer)
  const context = { db: jobs, worker, storage, owners, logger }
  const storedBytes = config.STORED_BYTES_PER_WORKSPACE
  const validations = validateImports({ ...context, storedBytes })
  const batches = publishBatches(context)
  const undos = undoImports(context, batches.wake)
  const wake = { validation: validations.wake, batches: batches.wake, undos: undos.wake }
  const onRecorded = () => {
    batches.wake()
    wakeRelay()
  }
  return {
    worker,
    operations: operations({ db, storage, logger, storedBytes }, wake, owners),
    components: [storage, owners],
    workspaces: { files: storage },
    consumers: [consume(recordResults(onRecorded), results), consume(recordRejectedBatches(wakeRelay), results)],
    workers: [
      validations,
      batches,
      undos,
      removeExpired(context),
      expireKeptRows(context),
      measureImports(worker, logger),
    ],
  }
})
