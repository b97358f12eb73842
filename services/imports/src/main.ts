import { runService } from '@backoffice/service/run-service.ts'
import { applyImports } from './applying/apply-imports.ts'
import { recordRejectedBatches } from './applying/record-rejected-batches.ts'
import { recordResults } from './applying/record-results.ts'
import { ImportsConfig, importStorage } from './config.ts'
import { removeExpired } from './expiry/remove-expired.ts'
import { measureImports } from './imports/measure-imports.ts'
import { operations } from './operations.ts'
import { ownerClient } from './owners/owner-client.ts'
import { POOLS } from './pools.ts'
import { undoImports } from './undo/undo-imports.ts'
import { validateImports } from './validation/validate-imports.ts'

await runService('imports', ImportsConfig, POOLS, ({ config, tokens, db, logger, pools, consume, wakeRelay }) => {
  const storage = importStorage(config)
  const { worker, jobs, results } = pools
  const owners = ownerClient(config, tokens.signer)
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
    workers: [
      validation,
      batches,
      undos,
      removeExpired({ db: jobs, worker, storage }, logger),
      measureImports(worker, logger),
    ],
  }
})
