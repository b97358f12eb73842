import { runService } from '@backoffice/service/run-service.ts'
import { ImportsConfig } from './config.ts'
import { operations } from './operations.ts'

await runService('imports', ImportsConfig, ({ openPool }) => {
  const worker = openPool('worker', { role: 'worker', poolSize: 1 })
  return { worker, operations }
})
